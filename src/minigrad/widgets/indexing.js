export default {
  render({ model, el }) {
    const rest = make("div");
    const listening = frame(model, el, rest);
    const known = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"];
    const hears = (where, keys) => ({
      key: (key) => keys.includes(key) && (model.send({ in: where, key }), true),
      point: (part) => model.send({ part }),
    });
    const labels = {
      view: "The view. Arrow keys move along the last two axes, page up and down along the axes before them.",
      storage: "The storage. Arrow keys move, enter goes to the next index that shows the element.",
    };
    rest.append(
      stage(model, listening, "view", labels.view, hears("view", known)),
      stage(model, listening, "storage", labels.storage, hears("storage", [...known, "Enter"])),
      make("p", { class: "mgw-keys" }, "Point at an element, or press Tab and move along the last two axes with the "
        + "arrow keys (Page up and down for the axes before them). In the storage, Enter goes through all indices that "
        + "show the element."),
    );
    return () => listening.end();
  },
};
