export default {
  render({ model, el }) {
    const rest = make("div");
    const pick = choice("function", model.get("names"), model.get("function"), (name) => put(model, { function: name }));
    const x = make("input", { type: "number", step: "0.1", oninput: () => {
      if (Number.isFinite(x.valueAsNumber)) put(model, { x: x.valueAsNumber });
    } });
    const slide = () => put(model, { exponent: slider.valueAsNumber });
    const slider = make("input", { type: "range", min: -16, max: 0, step: 0.25, oninput: slide });
    const epsilon = make("output");
    const bar = make("div", { class: "mgw-bar" }, pick, field("x", x), field("epsilon", slider), epsilon);
    const listening = frame(model, el, bar, rest);
    listening.on("function", () => (pick.querySelector("select").value = model.get("function")));
    listening.on("x", () => {
      if (x.valueAsNumber !== model.get("x")) x.value = model.get("x"); // not while "2." is typed
    });
    listening.on("exponent", () => {
      slider.value = model.get("exponent");
      epsilon.textContent = Number(10 ** model.get("exponent")).toExponential(1);
      slider.setAttribute("aria-valuetext", epsilon.textContent);
    });
    const point = (part, type) => type === "click" && put(model, { exponent: Number(part.split(":")[1]) });
    rest.append(
      make("div", { class: "mgw-row mgw-pair" },
        stage(model, listening, "curve", "The function with its secants"),
        stage(model, listening, "errors", "The error of both differences against epsilon, on logarithmic axes", { point })),
      make("p", { class: "mgw-keys" }, "Move epsilon with the arrow keys, or click at a step in the chart of errors. "
        + "Dashed: the tangent, and the present step."),
    );
    return () => listening.end();
  },
};
