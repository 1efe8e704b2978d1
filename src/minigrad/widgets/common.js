// What all widgets share. Python computes; here it is drawn, and what was pressed is sent back.

/** Make an element: `make("button", { type: "button" }, "Step")`. A function as attribute `onclick` listens. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  // JupyterLab takes arrows and letters for its own, unless the very element that has the focus says no.
  if (["button", "input", "select"].includes(tag) || "tabindex" in attributes) {
    element.setAttribute("data-lm-suppress-shortcuts", "true");
  }
  element.append(...children);
  return element;
}

function button(label, press, hint) {
  const onclick = ({ currentTarget }) => currentTarget.getAttribute("aria-disabled") !== "true" && press();
  return make("button", { type: "button", class: "mgw-button", title: hint, onclick }, label);
}

/** Let a button be pressed, or not; unlike "disabled", this leaves the focus where it is. */
function enable(pressed, on) {
  pressed.setAttribute("aria-disabled", String(!on));
}

/** The key that was pressed, letters in lower case; none with Ctrl, Alt or Meta, which are for others. */
function keyOf(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return undefined;
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

let ids = 0;

/** A labelled control: `field("rate", make("input"))`. */
function field(label, control) {
  control.id = `mgw-${++ids}`;
  return make("span", { class: "mgw-field" }, make("label", { for: control.id }, label), control);
}

function choice(label, names, chosen, pick) {
  const select = make("select", { onchange: () => pick(select.value) });
  for (const name of names) select.append(make("option", { value: name, selected: name === chosen }, name));
  return field(label, select);
}

/** What is listened to in a model while a view is shown. */
class Listening {
  constructor(model) {
    this.model = model;
    this.off = [];
  }

  on(names, listener) {
    for (const name of [].concat(names)) {
      this.model.on(`change:${name}`, listener);
      this.off.push(() => this.model.off(`change:${name}`, listener));
    }
    listener();
  }

  end() {
    for (const off of this.off) off();
  }
}

/** The frame of a widget, with the sentence that is read aloud when it changes. */
function frame(model, el, ...children) {
  const said = make("p", { class: "mgw-said", role: "status", "aria-live": "polite" });
  const root = make("div", { class: "mgw", role: "group", "aria-label": model.get("title") }, ...children, said);
  el.append(root);
  const listening = new Listening(model);
  listening.on("said", () => {
    if (said.textContent !== model.get("said")) said.textContent = model.get("said");
  });
  const hidden = document.head.appendChild(make("style"));
  listening.off.push(() => hidden.remove());
  listening.on("still_id", () => {
    const still = `#${model.get("still_id")}`;
    hidden.textContent = `${still}, .jp-OutputArea-child:has(${still}) { display: none }`;
  });
  return listening;
}

function put(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}

/** A place for one of the model's pictures, which takes keys and hears of the parts that are pointed at. */
function stage(model, listening, name, label, { key, point } = {}) {
  const focus = key ? { role: "application", tabindex: 0 } : { role: "img" };
  const place = make("div", { class: "mgw-stage", "aria-label": label, ...focus });
  if (key) {
    place.addEventListener("keydown", (event) => {
      const pressed = keyOf(event);
      if (!pressed || !key(pressed)) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
  if (point) {
    let last;
    const hear = (event) => {
      const part = event.target.closest("[data-part]");
      if (!part || (event.type === "mouseover" && part.dataset.part === last)) return;
      last = part.dataset.part;
      point(last, event.type);
    };
    place.addEventListener("mouseover", hear);
    place.addEventListener("click", hear);
    place.addEventListener("mouseleave", () => (last = undefined));
  }
  listening.on("pictures", () => {
    const svg = model.get("pictures")[name] ?? "";
    if (place.dataset.shown !== svg) {
      place.innerHTML = svg;
      place.dataset.shown = svg;
    }
    place.hidden = !svg;
  });
  return place;
}
