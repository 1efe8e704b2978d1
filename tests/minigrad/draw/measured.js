// Measures an SVG picture as the browser shows it; returns what is wrong, each as a sentence.
() => {
  const svg = document.querySelector("svg");
  const found = [];
  const clip = (words) => words.trim().slice(0, 40);
  const numbers = (color) => (color.match(/[\d.]+/g) || []).map(Number);
  const solid = (color) => color !== "none" && (numbers(color)[3] ?? 1) > 0;
  const style = (element) => getComputedStyle(element);

  // --- what is there: letters (from the top of capitals to below the base line), shapes, lines
  const shapes = [...svg.querySelectorAll("rect, circle, ellipse, path, polygon, text")];
  const order = new Map(shapes.map((element, place) => [element, place]));
  const texts = shapes.filter((each) => each.tagName === "text" && each.textContent.trim()).map((element) => {
    const box = element.getBBox(), size = parseFloat(style(element).fontSize), base = element.y.baseVal[0].value;
    return { element, words: clip(element.textContent), size,
      left: box.x, right: box.x + box.width, top: base - 0.74 * size, bottom: base + 0.2 * size };
  });
  const areas = shapes.filter((each) => ["rect", "circle", "ellipse"].includes(each.tagName)).map((element) => {
    const box = element.getBBox();
    return { element, left: box.x, right: box.x + box.width, top: box.y, bottom: box.y + box.height,
      paper: element.getAttribute("width") === "100%", plate: /-paper/.test(element.getAttribute("class")) };
  });
  const meet = (a, b, by = 0.6) =>
    a.left < b.right - by && b.left < a.right - by && a.top < b.bottom - by && b.top < a.bottom - by;
  const inside = (a, b, by = 0.6) =>
    a.left >= b.left - by && a.right <= b.right + by && a.top >= b.top - by && a.bottom <= b.bottom + by;

  const lines = shapes.filter((each) => each.tagName === "path" && style(each).stroke !== "none").map((element) => {
    const { x, y, width, height } = element.getBBox();
    let points;
    const sampled = () => Array.from({ length: Math.ceil(element.getTotalLength()) }, (_, at) => {
      const point = element.getPointAtLength(at);
      return [point.x, point.y];
    });
    return { element, box: { left: x, right: x + width, top: y, bottom: y + height },
      points: () => (points ??= sampled()) };
  });
  const opaque = areas.filter((area) => !area.paper && solid(style(area.element).fill));
  const filled = (text, line) =>
    opaque.some((area) => order.get(area.element) > order.get(line) && inside(text, area, 3));

  // --- cut, crossed or covered letters
  const { width, height } = svg.viewBox.baseVal;
  const page = { left: 0, top: 0, right: width, bottom: height };
  for (const text of texts) {
    if (!inside(text, page, 0)) found.push(`'${text.words}' leaves the picture`);
    if (text.size < 10) found.push(`'${text.words}' has letters of ${text.size} pixels`);
  }
  for (const area of areas) if (!area.paper && !inside(area, page)) found.push("a box leaves the picture");
  texts.forEach((a, place) => {
    for (const b of texts.slice(place + 1)) if (meet(a, b)) found.push(`'${a.words}' meets '${b.words}'`);
  });
  for (const text of texts) {
    const own = areas.filter((area) => area.plate && !area.paper && inside(text, area)).pop();
    const behind = (element) => own && order.get(own.element) > order.get(element);
    for (const area of areas) {
      if (area.paper || behind(area.element) || !meet(text, area) || inside(text, area)) continue;
      found.push(`'${text.words}' runs over the border of a box`);
      break;
    }
    const haloed = style(text.element).paintOrder.startsWith("stroke") && style(text.element).stroke !== "none";
    for (const { element, box, points } of lines) {
      if (haloed && order.get(text.element) > order.get(element)) continue;
      if (!meet(text, box, -1) || behind(element) || filled(text, element)) continue;
      const through = ([x, y]) => x > text.left && x < text.right && y > text.top + 0.6 && y < text.bottom - 0.6;
      if (points().some(through)) found.push(`a line crosses '${text.words}'`);
    }
  }

  // --- contrast of letters with what is directly behind them
  const light = (color) => {
    const [r, g, b] = color.map((each) => each / 255)
      .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const text of texts) {
    const x = (text.left + text.right) / 2, y = (text.top + text.bottom) / 2;
    let ground = [255, 255, 255];
    for (const area of areas) {
      const paint = style(area.element);
      if (order.get(area.element) > order.get(text.element) || !solid(paint.fill)) continue;
      if (!area.paper && !(x > area.left && x < area.right && y > area.top && y < area.bottom)) continue;
      const share = (numbers(paint.fill)[3] ?? 1) * parseFloat(paint.fillOpacity);
      ground = ground.map((each, place) => share * numbers(paint.fill)[place] + (1 - share) * each);
    }
    const pair = [light(numbers(style(text.element).fill).slice(0, 3)), light(ground)].sort((a, b) => b - a);
    const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (contrast < 4.5) found.push(`'${text.words}' has a contrast of ${contrast.toFixed(1)}`);
  }
  return found;
}
