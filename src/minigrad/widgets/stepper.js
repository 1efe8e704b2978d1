export default {
  render({ model, el }) {
    let timer;
    const to = (step) => put(model, { step: Math.max(0, Math.min(step, model.get("last"))) });
    const by = (steps) => to(model.get("step") + steps);
    const pause = () => {
      clearInterval(timer);
      timer = undefined;
      run.textContent = "Run";
    };
    const go = () => {
      if (timer) return pause();
      if (model.get("step") >= model.get("last")) to(0);
      run.textContent = "Pause";
      timer = setInterval(() => (model.get("step") < model.get("last") ? by(1) : pause()), 1100);
    };
    const again = () => {
      pause();
      model.send("again");
    };
    const back = button("Back", () => by(-1), "one step back (left arrow)");
    const step = button("Step", () => by(1), "one step (right arrow)");
    const run = button("Run", go, "a step every second (space)");
    const reset = button("Reset", again, "to the beginning, with the engine that is in the library now (r)");
    const count = make("span", { class: "mgw-field" });

    const keys = {
      ArrowRight: () => by(1), ArrowLeft: () => by(-1), Home: () => to(0), End: () => to(model.get("last")),
      " ": go, Enter: () => by(1), r: again,
    };
    const rest = make("div");
    const listening = frame(model, el, make("div", { class: "mgw-bar" }, back, step, run, reset, count), rest);
    const visited = (key) => {
      const row = model.get("rows").find((each) => each.key === key);
      if (row?.visit) to(row.visit);
    };
    rest.append(
      stage(model, listening, "graph", "The graph. Left and right arrow step, space runs, home and end jump.", {
        key: (key) => keys[key] && (keys[key](), true),
        point: (key, type) => type === "click" && visited(key),
      }),
    );
    const body = make("tbody");
    const names = ["variable", "value", "gradient so far", "state", "waits for"];
    rest.append(
      make("table", {}, make("thead", {}, make("tr", {}, ...names.map((n) => make("th", { scope: "col" }, n)))), body),
      make("p", { class: "mgw-keys" }, "Keys in the graph: ← → step, space runs and pauses, Home, End, R resets. "
        + "A click on a variable goes to its step."),
    );
    listening.on(["step", "last", "rows"], () => {
      const [at, last] = [model.get("step"), model.get("last")];
      count.textContent = `step ${at} of ${last}`;
      enable(back, at > 0);
      enable(step, at < last);
      const states = { early: "too early", complete: "complete, not visited" };
      body.replaceChildren(...model.get("rows").map((row) => make("tr", { class: row.now ? "mgw-now" : "" },
        ...[row.name, row.value, row.gradient, states[row.state] ?? row.state, row.waits].map((t) => make("td", {}, t)))));
    });
    return () => {
      pause();
      listening.end();
    };
  },
};
