// The cells of a lesson's page run in place, in one Python for the page (cells-worker.js), which starts when it is asked for.
// What a reader types is kept in this browser, with the text that the site had then: a cell that has changed since says so.

(() => {
  const opener = document.querySelector(".run-cells");
  if (!opener || location.protocol === "file:") return; // files may start no worker
  const words = JSON.parse(opener.dataset.words);
  const place = new URL(document.querySelector(".run-here").href);
  const site = new URL("..", place).href;
  const address = new URL("cells-worker.js", document.currentScript.src);
  const KEY = `minigrad-cells/${place.searchParams.get("path").split("/").pop()}`;
  const MARK = "# exercise: ";
  const said = Object.assign(document.createElement("div"), { className: "cells-said" });
  said.setAttribute("role", "status");
  let cells = [];
  let written = read();
  let worker, busy, running; // asked for, and run now
  let waiting = [];

  function read() {
    try {
      return JSON.parse(localStorage.getItem(KEY)) ?? [];
    } catch {
      return []; // not allowed, or not ours
    }
  }

  function keep() {
    const mine = cells.filter((cell) => cell.text() !== cell.given);
    written = written.filter(({ given }) => !cells.some((cell) => cell.given === given));
    written.push(...mine.map((cell) => ({ cell: cell.number, given: cell.given, typed: cell.text() })));
    try {
      localStorage.setItem(KEY, JSON.stringify(written));
    } catch {
      say(words.not_kept);
    }
  }

  function say(sentence, number = "") {
    said.textContent = sentence.replace("{number}", number);
  }

  function button(label, act) {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: label });
    made.addEventListener("click", act);
    return made;
  }

  /** Make every cell and every exercise of the page a field with a button and a place for what comes out. */
  function open() {
    const codes = document.querySelectorAll(".cell_input pre, .exercise > [class*=highlight-] pre");
    cells = [...codes].map((code, n) => fieldOf(code, n + 1));
    const known = new Set(cells.map(({ given }) => given));
    for (const cell of cells) {
      const own = written.find((each) => each.given === cell.given);
      const older = written.find((each) => each.cell === cell.number && !known.has(each.given));
      if (own) cell.write(own.typed);
      else if (older) cell.offer(older);
    }
    opener.textContent = words.all;
    document.body.append(said);
  }

  function fieldOf(code, number) {
    const box = code.closest(".cell, .exercise");
    const [given, html] = [code.textContent.trimEnd(), code.innerHTML];
    const solution = box.querySelector(":scope > .solution pre")?.textContent;
    const output = box.querySelector(".cell_output") ?? document.createElement("div");
    const bar = Object.assign(document.createElement("div"), { className: "cell-bar" });
    const text = () => {
      const typed = code.cloneNode(true);
      for (const each of typed.querySelectorAll("br")) each.replaceWith("\n"); // so browsers keep a line's end
      return typed.textContent.trimEnd();
    };
    const cell = { number, given, text, output, ran: false };

    cell.state = (state) => {
      run.textContent = state ? words.stop : words.run;
      run.setAttribute("aria-label", `${run.textContent}: ${code.getAttribute("aria-label")}`);
      output.setAttribute("aria-busy", String(Boolean(state)));
      bar.dataset.state = state;
    };
    const changed = () => {
      back.hidden = text() === given;
      code.classList.toggle("cell-typed", !back.hidden); // colours are those of the site's text
    };
    cell.write = (typed) => {
      code.textContent = typed;
      changed();
    };
    cell.offer = (older) => {
      const mine = button(words.mine, () => {
        written = written.filter((each) => each !== older);
        cell.write(older.typed);
        keep();
        note.remove();
        code.focus();
      });
      const note = Object.assign(document.createElement("span"), { className: "cell-note", textContent: words.changed });
      note.append(" ", mine);
      bar.append(note);
    };
    cell.unwritten = () => given.startsWith(MARK) && text() === given;
    /** What runs: of an exercise its check too, or where another cell needs it and nobody has written it, its solution. */
    cell.code = (asked) => {
      if (!asked) return (cell.unwritten() && solution) || text();
      const id = given.startsWith(MARK) && given.slice(MARK.length).split("\n")[0];
      return id ? `${text()}\n\nfrom minigrad import check\ncheck("${id}")` : text();
    };

    const run = button("", () => (bar.dataset.state ? stop() : ask(cell)));
    const back = button(words.back, () => {
      code.innerHTML = html;
      changed();
      keep();
      run.focus();
    });
    changed();
    bar.append(run, back);
    code.contentEditable = "plaintext-only";
    code.spellcheck = false;
    for (const [name, value] of Object.entries({ role: "textbox", "aria-multiline": "true", tabindex: "0" })) {
      code.setAttribute(name, value);
    }
    code.setAttribute("aria-label", words.code.replace("{number}", number));
    code.addEventListener("input", () => {
      changed();
      keep();
    });
    code.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (!bar.dataset.state) ask(cell);
    });
    code.closest(".cell_input, .exercise > [class*=highlight-]").after(bar);
    output.setAttribute("aria-live", "polite");
    if (!output.isConnected) box.matches(".cell") ? box.append(output) : bar.after(output);
    output.classList.add("cell_output");
    cell.state("");
    return cell;
  }

  /** Run a cell, and before it those above it that it needs and that have not run yet. */
  function ask(cell) {
    waiting.push(cell);
    cell.state("waits");
    begin();
    next();
  }

  function begin() {
    if (worker) return;
    say(words.starting);
    worker = new Worker(address);
    worker.onmessage = ({ data }) => hear[data.kind](data);
    worker.onerror = (event) => hear.failed({ text: event.message });
    worker.postMessage({ site, labels: words.explorer });
  }

  function next() {
    if (!worker || busy || !waiting.length) return;
    busy = waiting.shift();
    const above = cells.filter((each) => each.number < busy.number && !each.ran);
    worker.postMessage([...above, busy].map((each) => ({ number: each.number, code: each.code(each === busy) })));
  }

  function rest() {
    for (const cell of cells) cell.state("");
    waiting = [];
    busy = running = undefined;
  }

  /** An endless cell ends with its Python: all names are gone, and the next cell runs those above it anew. */
  function stop() {
    worker.terminate();
    worker = undefined;
    rest();
    for (const cell of cells) cell.ran = false;
    begin();
    say(words.stopped);
  }

  function add(...classes) {
    const made = document.createElement("div");
    made.classList.add("output", ...classes);
    running.output.append(made);
    return made;
  }

  function show(shown, data) {
    const [html, svg, png] = ["text/html", "image/svg+xml", "image/png"].map((type) => data[type]);
    const plain = data["text/plain"] ?? "";
    if (html ?? svg) shown.innerHTML = html ?? svg;
    else if (png) shown.replaceChildren(Object.assign(new Image(), { src: `data:image/png;base64,${png}`, alt: plain }));
    else shown.replaceChildren(Object.assign(document.createElement("pre"), { textContent: plain }));
    for (const states of shown.querySelectorAll(".explorer > script")) startExplorer(states.parentElement, states);
  }

  const hear = {
    ready() {
      say(words.ready);
    },
    failed({ text }) {
      worker.terminate();
      worker = undefined;
      rest();
      say(`${words.failed} ${text}`);
    },
    begin({ number }) {
      running = cells[number - 1];
      running.ran = running !== busy || !running.unwritten(); // what needs it later runs its solution
      running.state("runs");
      running.output.replaceChildren();
      say(words.running, number);
    },
    print({ text }) {
      const last = running.output.lastElementChild;
      const pre = last?.matches(".stream") ? last.firstElementChild : add("stream").appendChild(document.createElement("pre"));
      pre.append(text);
    },
    data({ data, id }) {
      const shown = add();
      if (id) shown.dataset.display = id;
      show(shown, data);
    },
    update({ data, id }) {
      for (const shown of document.querySelectorAll(`[data-display="${CSS.escape(id)}"]`)) show(shown, data);
    },
    clear() {
      running.output.replaceChildren();
    },
    error({ text }) {
      const lines = text.replace(/\x1b\[[\d;]*m/g, "").trimEnd().split("\n");
      const shown = add("cell-error");
      shown.append(Object.assign(document.createElement("p"), { textContent: lines.at(-1) }));
      if (lines.length > 1) {
        const [where, all] = ["details", "pre"].map((tag) => document.createElement(tag));
        all.textContent = lines.slice(0, -1).join("\n");
        where.append(Object.assign(document.createElement("summary"), { textContent: words.traceback }), all);
        shown.append(where);
      }
    },
    done() {
      if (running !== busy) running.state("");
    },
    rest() {
      say(running === busy ? words.ready : words.above, running.number);
      busy.state("");
      busy = running = undefined;
      next();
    },
  };

  opener.addEventListener("click", () => {
    if (!cells.length) {
      open();
      return begin();
    }
    for (const cell of cells) if (!cell.unwritten()) ask(cell);
  });
  opener.hidden = false;
  if (written.length) open();
})();
