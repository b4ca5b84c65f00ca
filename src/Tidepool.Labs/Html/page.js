'use strict';
(() => {
  const views = JSON.parse(document.getElementById('views').textContent);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const encode = text => echarts.format.encodeHTML(text);
  const oursColors = ['#00a3b8', '#3f6fd8', '#12b886', '#9b5de5', '#e76f51'];
  const paper = { '--ink': '#16232b', '--soft': '#5a6b75', '--line': '#dde5e9', '--card': '#ffffff', '--accent': '#00788a' };
  let printing = false; // paper is light, whatever the screen is
  const isDark = () => dark.matches && !printing;
  const css = name => (printing ? paper[name] : getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  const rivalColor = () => (isDark() ? '#7d909a' : '#8798a1');

  function rivalColors() {
    return isDark() ? ['#c3d0d6', '#94a5ae', '#72838c', '#57666e', '#aab8bf'] : ['#3d4b53', '#6d7d86', '#8f9ea7', '#adbac2', '#55656e'];
  }

  function amount(value, unit) {
    const digits = x => (x === 0 ? '0' : x < 1 ? x.toPrecision(2) : x < 100 ? x.toPrecision(3) : x.toFixed(0));
    const scaled = (steps, base) => {
      let step = 0;
      let rest = Math.abs(value);
      while (step < steps.length - 1 && rest >= base) { rest /= base; step++; }
      return `${value < 0 ? '-' : ''}${digits(rest)} ${steps[step]}`;
    };
    if (unit === 'ns') return scaled(['ns', 'µs', 'ms', 's'], 1000);
    if (unit === 'B') return scaled(['B', 'KiB', 'MiB', 'GiB'], 1024);
    return `${digits(value)} ${unit}`.trim();
  }

  const tick = (value, unit) => amount(value, unit).replace(/(\.\d*?)0+(?= |$)/, '$1').replace(/\.(?= |$)/, '');

  function basics() {
    return {
      animation: false,
      textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: css('--ink') },
      tooltip: {
        confine: true, backgroundColor: css('--card'), borderColor: css('--line'), textStyle: { color: css('--ink') },
        extraCssText: 'max-width: 90vw; white-space: normal;',
      },
    };
  }

  // What is written over the grid has the ground of the card, so that no line strikes it through.
  const ground = () => ({ backgroundColor: css('--card') });
  const axisStyle = () => ({
    axisLabel: { color: css('--soft'), hideOverlap: true }, axisLine: { lineStyle: { color: css('--line') } },
    splitLine: { lineStyle: { color: css('--line') } }, nameTextStyle: { color: css('--soft') },
  });
  const scaleName = (view, logarithmic) => (logarithmic ? `${view.scale}, logarithmic scale` : view.scale);
  const whisker = color => ({ silent: true, symbol: 'none', animation: false, label: { show: false }, lineStyle: { color, width: 1.6, type: 'solid' } });

  // The scale of bars: charts that stand beside each other have the same one.
  function scaleOf(shown) {
    const values = shown.flatMap(view => view.items.flatMap(item => [item.value, item.low ?? item.value, item.high ?? item.value]));
    const positive = values.filter(value => value > 0);
    const low = Math.min(...positive);
    const high = Math.max(...positive);
    if (shown[0].unit === 'ns' && positive.length > 0 && high / low > 30) {
      return { logarithmic: true, min: 10 ** Math.floor(Math.log10(low)), max: 10 ** Math.ceil(Math.log10(high)) };
    }
    const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
    const power = 10 ** Math.floor(Math.log10((most - least) / 5 || 1));
    const interval = power * [1, 2, 5, 10].find(step => (most - least) / (power * step) <= 5);
    return { logarithmic: false, interval, min: Math.floor(least / interval) * interval, max: Math.max(1, Math.ceil(most / interval)) * interval };
  }

  // Bars begin at zero. A logarithmic scale has none, so that the length of a bar would say nothing: there dots stand instead.
  function bars(view, width, scale) {
    const narrow = width < 560;
    const hasLongNames = view.items.some(item => item.name.length > 36);
    const color = item => (item.ours ? css('--accent') : rivalColor());
    const label = narrow
      ? { color: css('--ink'), inside: true, verticalAlign: 'bottom', fontSize: 11.5, ...ground() }
      : { color: css('--ink'), fontSize: 13 };
    const category = { type: 'category', inverse: true, ...axisStyle(), axisTick: { show: false }, splitLine: { show: false }, z: 5 };
    const intervals = view.items.flatMap((item, place) =>
      (item.high > item.low ? [[{ coord: [item.low, place] }, { coord: [item.high, place] }]] : []));
    return {
      ...basics(),
      grid: { left: narrow ? 2 : 8, right: narrow ? 2 : 8, top: narrow ? 20 : 8, bottom: 44, containLabel: true },
      xAxis: {
        type: scale.logarithmic ? 'log' : 'value', ...scale, ...axisStyle(),
        name: scaleName(view, scale.logarithmic), nameLocation: 'middle', nameGap: 28,
        axisLabel: { ...axisStyle().axisLabel, formatter: value => tick(value, view.unit) },
      },
      // Names at the left, numbers at the right: beside the bars, or on a narrow page above them.
      yAxis: [
        {
          ...category, data: view.items.map(item => item.name),
          axisLabel: { ...label, interval: 0, ...(narrow ? { align: 'left', padding: [0, 2, 13, -4], width: width - 150, overflow: 'truncate' } : {}), ...(hasLongNames && !narrow ? { width: Math.max(170, width * 0.28), overflow: 'break', lineHeight: 14 } : {}) },
        },
        {
          ...category, position: 'right', axisLine: { show: false }, data: view.items.map(item => item.label),
          axisLabel: { ...label, interval: 0, ...(narrow ? { align: 'right', padding: [0, -4, 13, 2] } : {}) },
        },
      ],
      tooltip: {
        ...basics().tooltip, trigger: 'item',
        formatter: point => {
          const item = view.items[point.dataIndex];
          return [`<strong>${encode(item.name)}</strong>`, ...item.details.map(encode)].join('<br>');
        },
      },
      series: [{
        ...(scale.logarithmic ? { type: 'scatter', symbolSize: 11 } : { type: 'bar', barMaxWidth: narrow ? 12 : 20 }),
        data: view.items.map((item, place) => ({
          value: scale.logarithmic ? [item.value > 0 ? item.value : null, place] : item.value,
          itemStyle: { color: color(item), borderRadius: [0, 4, 4, 0] },
        })),
        markLine: { ...whisker(scale.logarithmic ? css('--soft') : css('--ink')), data: intervals },
      }],
    };
  }

  // A logarithmic axis has no zero: length 0 stands at 0.1 and is labelled 0.
  const place = length => Math.max(length, 0.1);
  const lengthOf = x => (x < 1 ? 0 : Math.round(x));

  function lines(view, width) {
    const narrow = width < 560;
    const palette = { ours: [...oursColors], rivals: rivalColors() };
    let ours = 0;
    let rivals = 0;
    const isThreads = view.axis === 'threads';
    const places = view.series.flatMap(series => series.points.map(([x]) => x));
    const [least, most] = isThreads ? [1, Math.max(...places)] : view.axis === 'size' ? [16, 8192] : [0.1, 1e6];
    const legendRows = Math.ceil(view.series.length / (narrow ? 1 : width < 800 ? 2 : 4));
    return {
      ...basics(),
      legend: { bottom: 0, textStyle: { color: css('--ink'), fontSize: narrow ? 11 : 12 }, itemHeight: 8, itemGap: narrow ? 6 : 12 },
      grid: { left: 8, right: 16, top: 34, bottom: 34 + legendRows * (narrow ? 18 : 22), containLabel: true },
      xAxis: { type: 'log', name: `${view.axis}, logarithmic scale`, nameLocation: 'middle', nameGap: 26, min: least, max: most, logBase: isThreads ? 2 : 10, ...axisStyle(), axisLabel: { ...axisStyle().axisLabel, formatter: x => (isThreads ? `${Math.round(x)}` : x < 1 ? '0' : x >= 1e6 ? '1M' : x >= 1000 ? `${x / 1000}k` : `${x}`) } },
      yAxis: { type: 'log', name: scaleName(view, true), ...axisStyle(), nameTextStyle: { color: css('--soft'), align: 'left' }, axisLabel: { ...axisStyle().axisLabel, formatter: value => tick(value, view.unit) } },
      tooltip: {
        ...basics().tooltip, trigger: 'axis',
        formatter: points => [`${view.axis} ${lengthOf(points[0].value[0])}`, ...points.sort((a, b) => a.value[1] - b.value[1])
          .map(point => `${point.marker}${encode(point.seriesName)}: <strong>${amount(point.value[1], view.unit)}</strong>`)].join('<br>'),
      },
      series: view.series.map(series => {
        const color = series.ours ? palette.ours[ours++ % palette.ours.length] : palette.rivals[rivals++ % palette.rivals.length];
        return {
          name: series.name, type: 'line', symbolSize: 7, color, z: series.ours ? 3 : 2,
          lineStyle: { width: series.ours ? 3 : 1.6, type: series.ours ? 'solid' : 'dashed' },
          data: series.points.map(([length, value]) => [place(length), value]),
          markLine: {
            ...whisker(color),
            data: series.points.filter(([, , low, high]) => high > low)
              .map(([length, , low, high]) => [{ coord: [place(length), low] }, { coord: [place(length), high] }]),
          },
        };
      }),
    };
  }

  const redraws = [];

  for (const figure of document.querySelectorAll('figure.plot')) {
    const list = views[figure.dataset.lab] ?? [];
    const [first, second] = ['first', 'second'].map(name => figure.querySelector(`select.${name}`));
    const panels = [...figure.querySelectorAll('.canvases > div')].map(panel => ({ panel, title: panel.querySelector('h4'), canvas: panel.querySelector('.canvas'), chart: null }));
    if (list.length === 0) { figure.remove(); continue; }
    second.add(new Option('nothing', ''));
    for (const [index, view] of list.entries()) {
      first.add(new Option(view.title, index));
      second.add(new Option(view.title, index));
    }
    second.parentElement.hidden = list.length < 2;
    let width = 0;
    const draw = () => {
      const shown = [list[first.value], ...(second.value === '' ? [] : [list[second.value]])];
      const areAlike = shown.every(view => view.kind === 'bars' && view.unit === shown[0].unit && view.scale === shown[0].scale);
      for (const [index, { panel, title, canvas, chart }] of panels.entries()) {
        chart?.dispose();
        panels[index].chart = null;
        panel.hidden = index >= shown.length;
        if (panel.hidden) continue;
        const view = shown[index];
        title.textContent = view.title;
        canvas.style.height = view.kind === 'bars' ? `${Math.max(150, 64 + view.items.length * (canvas.clientWidth < 560 ? 46 : 30))}px` : '480px';
        panels[index].chart = echarts.init(canvas, null, { renderer: 'svg', width: canvas.clientWidth });
        panels[index].chart.setOption(view.kind === 'bars'
          ? bars(view, canvas.clientWidth, scaleOf(areAlike ? shown : [view]))
          : lines(view, canvas.clientWidth));
      }
      width = panels[0].canvas.clientWidth;
    };
    redraws.push(draw);
    first.addEventListener('change', draw);
    second.addEventListener('change', draw);
    dark.addEventListener('change', draw);
    new ResizeObserver(() => {
      if (panels[0].canvas.clientWidth !== width) draw();
    }).observe(panels[0].canvas);
  }

  addEventListener('beforeprint', () => { printing = true; redraws.forEach(draw => draw()); });
  addEventListener('afterprint', () => { printing = false; redraws.forEach(draw => draw()); });
})();
