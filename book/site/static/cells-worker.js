// Python for the cells of a page (cells.js). Interpreter, packages and kernel are those of the site in which lessons run.

const MOST = 200_000; // characters that a cell may print: an endless loop fills no page
const SOON = 100; // milliseconds between two messages of what is printed
const PACKAGES = ["ipython", "ipykernel", "comm", "pyodide-kernel", "minigrad"];
const python = start();
let text = "";
let sent = 0;
let room = MOST;

/** Start Python with the kernel of that site; widgets leave their states, as in the book (book/states.py). */
async function start() {
  const { site, labels } = await new Promise((resolve) => (onmessage = ({ data }) => resolve(data)));
  onmessage = ({ data }) => run(data);
  const names = ["states.py", "explorers.py", "needed.py", "wording.py"];
  const modules = names.map(async (name) => [name, await (await fetch(name)).text()]);
  importScripts(`${site}static/pyodide/python.js`);
  const pyodide = await loadPyodide({ indexURL: `${site}static/pyodide/`, packages: PACKAGES });
  pyodide.FS.mkdir("book");
  for (const [name, text] of await Promise.all(modules)) pyodide.FS.writeFile(`book/${name}`, text);
  pyodide.runPython(`import pyodide_kernel
pyodide_kernel.ipython_shell.extension_manager.load_extension("book.states")`);
  const explorers = pyodide.pyimport("book.explorers");
  const say = pyodide.pyimport("book.wording").say_with(pyodide.toPy(labels));
  const { json_clean, encode_images } = pyodide.pyimport("pyodide_kernel.jsonutil");
  const { stdout_stream, stderr_stream, ipython_shell, kernel_instance } = pyodide.pyimport("pyodide_kernel");

  const show = (kind) => (data, metadata, transient) => {
    flush();
    const shown = json_clean(encode_images(data)).toJs({ dict_converter: Object.fromEntries });
    if (data.has(explorers.EXPLORER)) shown["text/html"] = explorers.explorer(data.get(explorers.EXPLORER), say);
    postMessage({ kind, data: shown, id: transient?.get("display_id") });
  };
  stdout_stream.publish_stream_callback = stderr_stream.publish_stream_callback = print;
  ipython_shell.displayhook.publish_execution_result = (count, data, metadata) => show("data")(data, metadata);
  ipython_shell.display_pub.display_data_callback = show("data");
  ipython_shell.display_pub.update_display_data_callback = show("update");
  ipython_shell.display_pub.clear_output_callback = () => postMessage({ kind: "clear" });
  ipython_shell.send_comm = () => {}; // nobody listens to widgets
  postMessage({ kind: "ready" });
  return { kernel: kernel_instance, needed: pyodide.pyimport("book.needed").needed };
}

/** Run the last of some cells, and before it those that it needs, until one fails. */
async function run(cells) {
  const { kernel, needed } = await python;
  const codes = cells.map(({ code }) => code);
  for (const n of [...needed(codes.slice(0, -1), codes.at(-1)), codes.length - 1]) {
    postMessage({ kind: "begin", number: cells[n].number });
    room = MOST;
    const result = (await kernel.run(codes[n])).toJs({ dict_converter: Object.fromEntries });
    flush();
    const failed = result.status === "error";
    if (failed) postMessage({ kind: "error", text: result.traceback.join("\n") });
    postMessage({ kind: "done" });
    if (failed) break;
  }
  postMessage({ kind: "rest" });
}

function print(_, more) {
  text += more.slice(0, Math.max(room, 0));
  room -= more.length;
  if (performance.now() - sent > SOON) flush();
}

function flush() {
  if (text) postMessage({ kind: "print", text });
  text = "";
  sent = performance.now();
}

python.catch((error) => postMessage({ kind: "failed", text: String(error) }));
