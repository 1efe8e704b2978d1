export default {
  render({ model, el }) {
    const rest = make("div");
    const listening = frame(model, el, rest);
    const known = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "r"];
    const send = (key) => model.send({ key });
    const label = "The block. Up and down move the chosen box, left and right choose another, R begins anew.";
    rest.append(
      make("div", { class: "mgw-bar" },
        button("Up", () => send("ArrowUp"), "Move the chosen box up (arrow up)"),
        button("Down", () => send("ArrowDown"), "Move the chosen box down (arrow down)"),
        button("Next box", () => send("ArrowRight"), "Choose the next box (arrow right)"),
        button("Reset", () => send("r"), "Begin anew (R)")),
      stage(model, listening, "block", label, {
        key: (key) => known.includes(key) && (send(key), true),
        point: (part, type) => type === "click" && model.send({ part }),
      }),
      make("p", { class: "mgw-keys" }, "Click at a box, or press Tab and choose one with the left and right arrow keys. "
        + "Up and down move it. Boxes with a thick frame are in the same bytes at the same time."),
    );
    return () => listening.end();
  },
};
