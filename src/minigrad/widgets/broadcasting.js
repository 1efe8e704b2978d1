export default {
  render({ model, el }) {
    const rest = make("div");
    const typed = (name, label) => {
      const input = make("input", { type: "text", size: 12, spellcheck: "false", oninput: () => put(model, { [name]: input.value }) });
      return { input, field: field(label, input), name };
    };
    const inputs = [typed("a", "shape of a"), typed("b", "shape of b")];
    const common = make("strong");
    const bar = make("div", { class: "mgw-bar" }, ...inputs.map((each) => each.field), make("span", {}, "together: ", common));
    const listening = frame(model, el, bar, rest);
    for (const { input, name } of inputs) {
      listening.on(name, () => {
        if (input.value !== model.get(name)) input.value = model.get(name);
      });
    }
    listening.on("shape", () => {
      const shape = model.get("shape");
      common.textContent = shape ? `(${shape.join(", ")}${shape.length === 1 ? "," : ""})` : "none";
    });
    const known = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"];
    const keys = "Arrow keys move along the last two axes, page up and down along the axes before them.";
    const grid = (name, label) => stage(model, listening, name, `${label}. ${keys}`, {
      key: (key) => known.includes(key) && (model.send({ in: name, key }), true),
      point: (part) => model.send({ part }),
    });
    rest.append(
      stage(model, listening, "together", "The two shapes, aligned from the right."),
      make("div", { class: "mgw-row" }, grid("a", "The elements of a"), grid("b", "The elements of b")),
      grid("out", "The elements of the result"),
      make("p", { class: "mgw-keys" }, "Change the shapes. Point at an element, or press Tab and move along the last "
        + "two axes with the arrow keys (Page up and down for the axes before them)."),
    );
    return () => listening.end();
  },
};
