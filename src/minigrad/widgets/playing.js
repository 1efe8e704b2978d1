const COLORS = [[196, 98, 29], [31, 95, 168]];

/** What the network says about each place of the square, and the points that it learns from. */
function drawBoundary(canvas, model) {
  const raster = model.get("raster");
  const bytes = new Uint8Array(raster.buffer ?? raster, raster.byteOffset ?? 0, raster.byteLength);
  const n = Math.round(Math.sqrt(bytes.length));
  const paper = (getComputedStyle(canvas.closest(".mgw")).backgroundColor.match(/\d+/g) ?? [255, 255, 255]).map(Number);
  const small = document.createElement("canvas");
  small.width = small.height = n;
  const image = new ImageData(n, n);
  bytes.forEach((byte, i) => {
    const share = 0.75 * Math.abs(byte / 127.5 - 1);
    const color = COLORS[byte > 127 ? 1 : 0];
    for (let k = 0; k < 3; k++) image.data[4 * i + k] = paper[k] + share * (color[k] - paper[k]);
    image.data[4 * i + 3] = 255;
  });
  small.getContext("2d").putImageData(image, 0, 0);
  const pen = canvas.getContext("2d");
  pen.drawImage(small, 0, 0, canvas.width, canvas.height);
  pen.lineWidth = 2;
  const whole = (at, size) => Math.max(8, Math.min(size - 8, at));  // no point is cut in half by the border
  for (const [x1, x2, y] of model.get("points")) {
    const [x, up] = [whole(x1 * canvas.width, canvas.width), whole((1 - x2) * canvas.height, canvas.height)];
    pen.beginPath();
    if (y) pen.rect(x - 6, up - 6, 12, 12);
    else pen.arc(x, up, 6.5, 0, 7);
    pen.fillStyle = `rgb(${COLORS[y]})`;
    pen.fill();
    pen.strokeStyle = "#fff";
    pen.stroke();
  }
}

/** Hidden layers: how many, and the units of each. */
function layers(model, listening) {
  const place = make("span", { class: "mgw-bar", role: "group", "aria-label": "hidden layers" });
  const { layers: most, units } = model.get("options");
  const change = (hidden) => put(model, { hidden });
  listening.on("hidden", () => {
    const hidden = model.get("hidden");
    const at = [...place.querySelectorAll("input,button")].indexOf(document.activeElement);
    const inputs = hidden.map((size, k) => make("input", {
      type: "number", min: 1, max: units, value: size, "aria-label": `units in hidden layer ${k + 1}`,
      onchange: ({ target }) => {
        target.value = Math.max(1, Math.min(units, Math.round(target.valueAsNumber || 1)));
        change(hidden.map((old, i) => (i === k ? target.valueAsNumber : old)));
      },
    }));
    const more = button("+", () => change([...hidden, 4]), "one hidden layer more");
    const fewer = button("−", () => change(hidden.slice(0, -1)), "one hidden layer fewer");
    more.setAttribute("aria-label", "add a hidden layer");
    fewer.setAttribute("aria-label", "remove a hidden layer");
    enable(more, hidden.length < most);
    enable(fewer, hidden.length > 0);
    place.replaceChildren(make("span", { class: "mgw-label" }, "hidden layers"), fewer, more, ...inputs);
    place.querySelectorAll("input,button")[at]?.focus();
  });
  return place;
}

const views = new WeakMap(); // how many views of a model are shown

export default {
  initialize({ model }) {
    // Training ends with the page that asked for it; a page that is opened again does not start by itself.
    if (model.get("running")) put(model, { running: false });
    let waiting;
    const next = () => {
      clearTimeout(waiting);
      if (model.get("running")) waiting = setTimeout(() => model.send("slice"), 10);
    };
    model.on("change:slices", next);
    model.on("change:running", next);
    return () => clearTimeout(waiting);
  },

  render({ model, el }) {
    views.set(model, (views.get(model) ?? 0) + 1);
    const options = model.get("options");
    const toggle = () => put(model, { running: !model.get("running") });
    const start = button("Start", toggle, "train, and pause (space on the picture)");
    const step = button("Step", () => model.send("step"), "one epoch");
    const reset = button("Reset", () => model.send("reset"), "begin anew");
    const score = make("span", { class: "mgw-score" });
    const rest = make("div");
    const settings = make("div", { class: "mgw-bar" });
    const first = make("div", { class: "mgw-bar" }, start, step, reset, score);
    const listening = frame(model, el, first, settings, rest);
    const pick = (name, label) => {
      const picked = choice(label, options[name].map(String), String(model.get(name)),
        (value) => put(model, { [name]: name === "rate" ? Number(value) : value }));
      const select = picked.querySelector("select");
      listening.on(name, () => {
        const value = String(model.get(name));
        if (![...select.options].some((option) => option.value === value)) select.append(make("option", { value }, value));
        select.value = value;
      });
      return picked;
    };
    const seed = make("input", { type: "number", min: 0, step: 1, onchange: () => {
      seed.value = Math.max(0, Math.min(Math.round(seed.valueAsNumber || 0), Number.MAX_SAFE_INTEGER));
      put(model, { seed: seed.valueAsNumber });
    } });
    listening.on("seed", () => (seed.value = model.get("seed")));
    settings.append(pick("data", "data"), layers(model, listening), pick("activation", "activation"), pick("rate", "learning rate"),
      pick("optimizer", "optimizer"), pick("engine", "engine"), pick("library", "library"), field("seed", seed));

    const canvas = make("canvas", { width: 720, height: 720, class: "mgw-canvas", role: "img" });
    const place = make("div", { class: "mgw-stage", tabindex: 0, role: "application",
      "aria-label": "What the network says about the square. Space starts and pauses, s takes a step, r begins anew." }, canvas);
    const keys = { " ": toggle, Enter: toggle, s: () => step.click(), r: () => model.send("reset") };
    place.addEventListener("keydown", (event) => {
      const press = keys[keyOf(event)];
      if (!press) return;
      event.preventDefault();
      press();
    });
    rest.append(
      make("div", { class: "mgw-row" }, place, stage(model, listening, "loss", "The loss, epoch by epoch")),
      make("p", { class: "mgw-keys" }, "Squares are class 1 (blue), circles class 0 (orange). Keys on the picture: space "
        + "starts and pauses, S steps, R resets. Other cells can run meanwhile."),
    );
    const draw = () => drawBoundary(canvas, model);
    listening.on(["raster", "points"], draw);
    const watcher = new MutationObserver(() => setTimeout(draw, 300));
    watcher.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
    listening.on("score", () => {
      score.textContent = model.get("score");
      canvas.setAttribute("aria-label", `The boundary at ${model.get("score")}`);
    });
    listening.on("running", () => {
      start.textContent = model.get("running") ? "Pause" : "Start";
      enable(step, !model.get("running"));
    });
    return () => {
      watcher.disconnect();
      listening.end();
      views.set(model, views.get(model) - 1);
      if (!views.get(model) && model.get("running")) put(model, { running: false });
    };
  },
};
