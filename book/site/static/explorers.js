// Explorers (book/explorers.py): Python has computed the states, here one of them is chosen and shown.
// A state's pictures are runs of pieces: [0, 7, 12, 12] are the pieces 0 to 7, then piece 12.

function startExplorer(explorer, data) {
  const { pieces, groups } = JSON.parse(data.textContent);
  const find = (selector) => explorer.querySelector(selector);
  const [bar, choice, steps, slider] = [".mgw-bar", "select", ".explorer-steps", "input"].map(find);
  const [output, said] = ["output", ".mgw-said"].map(find);
  const buttons = explorer.querySelectorAll("[data-by]");
  const stages = explorer.querySelectorAll(".mgw-stage");
  let group = choice ? choice.selectedIndex : 0;

  const draw = (runs = []) => {
    let svg = "";
    for (let i = 0; i < runs.length; i += 2) svg += pieces.slice(runs[i], runs[i + 1] + 1).join("");
    return svg;
  };

  const show = (number, at) => {
    const { states } = groups[(group = number)];
    const state = states[at];
    if (choice) choice.selectedIndex = number;
    slider.max = states.length - 1;
    slider.value = at;
    slider.setAttribute("aria-valuetext", state.name);
    output.textContent = state.name;
    steps.hidden = states.length < 2;
    for (const button of buttons) button.setAttribute("aria-disabled", String(!states[at + Number(button.dataset.by)]));
    stages.forEach((stage, i) => {
      stage.innerHTML = draw(state.pictures[i]);
      stage.hidden = !state.pictures[i];
    });
    said.textContent = state.said;
  };

  /** The same place in another group, where it has one: the same step of another function. */
  const other = (number) => {
    const at = slider.valueAsNumber;
    show(number, groups[number].states[at]?.name === groups[group].states[at].name ? at : 0);
  };

  /** The state that a part of a picture leads to: of this group, else of another. */
  const point = (part) => {
    for (const number of [group, ...groups.keys()]) {
      const at = groups[number].states.findIndex((state) => state.parts.includes(part));
      if (at >= 0) return show(number, at);
    }
  };

  /** Show the states one after the other, once, for less than five seconds, until somebody takes over. */
  const play = () => {
    const { states } = groups[group];
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    said.setAttribute("aria-live", "off");
    let at = 0;
    const film = setInterval(() => (at < states.length ? show(group, at++) : stop()), 4500 / states.length);
    const stop = () => {
      clearInterval(film);
      said.setAttribute("aria-live", "polite");
    };
    for (const touch of ["pointerdown", "keydown"]) explorer.addEventListener(touch, stop, { capture: true });
  };

  choice?.addEventListener("change", () => other(choice.selectedIndex));
  slider.addEventListener("input", () => show(group, slider.valueAsNumber));
  for (const button of buttons) {
    button.addEventListener("click", () => {
      const at = slider.valueAsNumber + Number(button.dataset.by);
      if (groups[group].states[at]) show(group, at);
    });
  }
  explorer.addEventListener("click", ({ target }) => {
    const part = target.closest("[data-part]");
    if (part) point(part.dataset.part);
  });
  show(group, slider.valueAsNumber); // a browser may have kept what was chosen before the page was loaded again
  if (explorer.closest(".front-film")) play();
  bar.hidden = false;
  explorer.classList.add("explorer-live");
}

for (const data of document.querySelectorAll(".explorer > script")) startExplorer(data.parentElement, data);
