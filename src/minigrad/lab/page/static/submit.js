// "Submit" in the toolbar of a lesson's notebook, and above its cells where the assignment stands: the due date, the mark.
//
// JupyterLab loads this file as a module of its federation: `init` gets what the page shares, `get` gives the plugin. It
// is written by hand, without a bundler, since it needs four of the shared packages and nothing else.
"use strict";
(() => {
  const OFTEN = 2000; // milliseconds from one question to the next while the mark is awaited
  const SELDOM = 60000; // and else: the hand-in may come another way, and a mark may change
  const PAUSES = { queued: OFTEN, "being graded": OFTEN, waits: 5 * OFTEN };
  const STYLE = `
    .mg-standing { display: flex; flex-wrap: wrap; gap: 2px 16px; padding: 6px 12px; font-size: var(--jp-ui-font-size1);
      color: var(--jp-ui-font-color1); background: var(--jp-layout-color2);
      border-left: 4px solid var(--jp-border-color1); border-bottom: 1px solid var(--jp-border-color2); }
    .mg-standing:empty { display: none; }
    .mg-standing[data-state="graded"] { border-left-color: var(--jp-success-color1); }
    .mg-standing[data-state="queued"], .mg-standing[data-state="being graded"] { border-left-color: var(--jp-brand-color1); }
    .mg-standing[data-state="waits"], .mg-standing[data-state="refused"], .mg-standing[data-state="late"] {
      border-left-color: var(--jp-warn-color1); }
    .mg-standing p { margin: 0; }
    .mg-standing[data-state="graded"] p:first-child, .mg-standing[data-state="late"] p:first-child { font-weight: 600; }
    .mg-standing p.mg-warning { flex-basis: 100%; color: var(--jp-ui-font-color2); }
    .mg-standing a { color: var(--jp-content-link-color); text-decoration: underline; }
  `;

  let shares;

  // A package that the page shares, whatever its version.
  async function shared(name) {
    const [version] = Object.values(shares[name]);
    return (await version.get())();
  }

  async function plugin() {
    const [{ Widget }, { ToolbarButton }, { ServerConnection }, { URLExt }] = await Promise.all(
      ["@lumino/widgets", "@jupyterlab/ui-components", "@jupyterlab/services", "@jupyterlab/coreutils"].map(shared),
    );

    function address(what, query) {
      const base = ServerConnection.makeSettings().baseUrl;
      return URLExt.join(base, "minigrad", what) + URLExt.objectToQueryString(query);
    }

    async function asked(method, query) {
      const url = address("standing", query);
      const answer = await ServerConnection.makeRequest(url, { method }, ServerConnection.makeSettings());
      const said = await answer.json();
      if (!answer.ok) throw Object.assign(new Error(said.message), { isRefusal: answer.status === 409 });
      return said;
    }

    // What one notebook shows.
    class Shown {
      constructor(app, panel, context) {
        Object.assign(this, { app, panel, context, isDisposed: false, isBusy: false, timer: 0, shownHtml: "" });
        Object.assign(this, { warnings: [], problem: "", handedIn: null });
        this.strip = document.createElement("div");
        this.strip.className = "mg-standing";
        this.strip.setAttribute("role", "status");
        const place = new Widget();
        place.node.append(this.strip);
        panel.contentHeader.addWidget(place);
        // Lumino gives a widget the height that its style asks for, not that of what is in it.
        this.sizes = new ResizeObserver(() => {
          place.node.style.minHeight = `${this.strip.offsetHeight}px`;
          panel.contentHeader.fit();
        });
        this.sizes.observe(this.strip);
        this.turn = () => app.shell.currentWidget === panel && this.ask();
        app.shell.currentChanged?.connect(this.turn);
        panel.disposed.connect(() => this.dispose());
        context.pathChanged.connect(() => {
          Object.assign(this, { warnings: [], problem: "" });
          this.show({});
          this.ask();
        });
        context.ready.then(() => this.ask());
      }

      dispose() {
        this.isDisposed = true;
        clearTimeout(this.timer);
        this.sizes.disconnect();
        this.app.shell.currentChanged?.disconnect(this.turn);
      }

      // Ask now, and again in a while.
      async ask() {
        clearTimeout(this.timer);
        if (this.isDisposed) return;
        let pause = SELDOM;
        if (!this.isBusy && document.visibilityState === "visible") {
          const said = await asked("GET", { notebook: this.context.path, no_track_activity: 1 }).catch(
            // What was known stays where the server is away for a moment.
            (error) => (error.isRefusal && !this.shownHtml ? { state: "refused", lines: [error.message] } : null),
          );
          if (said && !this.isBusy) {
            if (said.handed_in !== this.handedIn) this.problem = ""; // it has arrived after all
            this.handedIn = said.handed_in;
            this.show(said);
          }
          if (said && !("lines" in said)) return; // no lesson
          if (said) pause = PAUSES[said.state] ?? SELDOM;
        }
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.ask(), pause);
      }

      show({ state = "none", is_late = false, lines = [], pages = [], submit = "" }) {
        if (submit && !this.button) {
          this.button = new ToolbarButton({ label: submit, onClick: () => this.handIn() });
          this.button.addClass("mg-submit");
          this.panel.toolbar.insertBefore("spacer", "minigrad-submit", this.button) ||
            this.panel.toolbar.addItem("minigrad-submit", this.button);
        }
        const said = lines.map((line) => paragraph(line));
        for (const { lesson, label } of pages) {
          const link = document.createElement("a");
          link.href = address("feedback", { notebook: this.context.path, lesson });
          link.target = "_blank";
          link.textContent = label;
          said.push(paragraph("", link));
        }
        for (const warning of [this.problem, ...this.warnings].filter(Boolean)) {
          said.push(paragraph(warning));
          said.at(-1).className = "mg-warning";
        }
        this.strip.dataset.state = is_late ? "late" : state;
        // A screen reader reads what is replaced, so what stays is left alone.
        const html = said.map((each) => each.outerHTML).join("");
        if (html !== this.shownHtml) this.strip.replaceChildren(...said);
        this.shownHtml = html;
      }

      // Save what lies unsaved in this notebook's folder, then hand in.
      async handIn() {
        if (this.isBusy) return;
        this.isBusy = true;
        this.button.enabled = false;
        try {
          const folder = (path) => path.split("/").slice(0, -1).join("/");
          for (const { context } of this.app.shell.widgets("main")) {
            if (context?.model?.dirty && folder(context.path) === folder(this.context.path)) await context.save();
          }
          const said = await asked("POST", { notebook: this.context.path });
          Object.assign(this, { warnings: said.warnings, problem: "", handedIn: said.handed_in });
          this.show(said);
        } catch (error) {
          this.problem = error.message;
          this.show({ state: "refused" });
        }
        this.isBusy = false;
        this.button.enabled = true;
        this.timer = setTimeout(() => this.ask(), OFTEN);
      }
    }

    function paragraph(text, ...nodes) {
      const made = document.createElement("p");
      made.append(text, ...nodes);
      return made;
    }

    return {
      id: "minigrad-course:submit",
      autoStart: true,
      activate: (app) => {
        const style = document.createElement("style");
        style.textContent = STYLE;
        document.head.append(style);
        app.docRegistry.addWidgetExtension("Notebook", {
          createNew: (panel, context) => new Shown(app, panel, context),
        });
      },
    };
  }

  (globalThis._JUPYTERLAB ??= {})["minigrad-course"] = {
    init: (given) => void (shares = given),
    get: async () => {
      const made = await plugin();
      return () => ({ __esModule: true, default: made });
    },
  };
})();
