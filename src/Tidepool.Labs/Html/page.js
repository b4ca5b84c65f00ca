'use strict';
(() => {
  const views = JSON.parse(document.getElementById('views').textContent);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const encode = text => echarts.format.encodeHTML(text);
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const oursColors = ['#00a3b8', '#3f6fd8', '#12b886', '#9b5de5', '#e76f51'];

  function rivalColors() {
    return dark.matches ? ['#c3d0d6', '#94a5ae', '#72838c', '#57666e', '#aab8bf'] : ['#3d4b53', '#6d7d86', '#8f9ea7', '#adbac2', '#55656e'];
  }

  function amount(value, unit) {
    const digits = x => (x === 0 ? '0' : x < 1 ? x.toPrecision(2) : x < 100 ? x.toPrecision(3) : x.toFixed(0));
    const scaled = (steps, base) => {
      let step = 0;
      let rest = Math.abs(value);
      while (step < steps.length - 1 && rest >= base) { rest /= base; step++; }
      return `${value < 0 ? '-' : ''}${digits(rest)} ${steps[step]}`;
    };
    if (unit === 'ns') return scaled(['ns', 'us', 'ms', 's'], 1000);
    if (unit === 'B') return scaled(['B', 'KiB', 'MiB', 'GiB'], 1024);
    return `${digits(value)} ${unit}`.trim();
  }

  const tick = (value, unit) => amount(value, unit).replace(/(\.\d*?)0+(?= )/, '$1').replace(/\.(?= )/, '');

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

  const axisStyle = () => ({
    axisLabel: { color: css('--soft'), hideOverlap: true }, axisLine: { lineStyle: { color: css('--line') } },
    splitLine: { lineStyle: { color: css('--line') } }, nameTextStyle: { color: css('--soft') },
  });

  function bars(view, width) {
    const values = view.items.map(item => item.value).filter(value => value > 0);
    const spread = values.length ? Math.max(...values) / Math.min(...values) : 1;
    const logarithmic = view.unit === 'ns' && spread > 30;
    const narrow = width < 560;
    // The text after a bar is drawn outside the grid.
    const longest = Math.max(0, ...view.items.map(item => item.label.length));
    const room = Math.max(narrow ? 92 : 120, 16 + longest * (narrow ? 6 : 6.6));
    const hasLongNames = view.items.some(item => item.name.length > 40);
    return {
      ...basics(),
      grid: { left: narrow ? 2 : 8, right: room, top: narrow ? 20 : 12, bottom: 26, containLabel: true },
      xAxis: { type: logarithmic ? 'log' : 'value', ...axisStyle(), axisLabel: { ...axisStyle().axisLabel, formatter: value => tick(value, view.unit) }, splitNumber: narrow ? 3 : 6 },
      yAxis: {
        type: 'category', inverse: true, data: view.items.map(item => item.name), ...axisStyle(), axisTick: { show: false },
        // On a narrow page the names stand above their bars: beside them they would leave no room.
        axisLabel: narrow
          ? { color: css('--ink'), inside: true, align: 'left', verticalAlign: 'bottom', padding: [0, 0, 9, -4], fontSize: 11.5 }
          : { color: css('--ink'), fontSize: 13, ...(hasLongNames ? { width: 340, overflow: 'break', lineHeight: 14, align: 'right' } : {}) },
        z: 5,
      },
      tooltip: {
        ...basics().tooltip, trigger: 'item',
        formatter: point => {
          const item = view.items[point.dataIndex];
          return [`<strong>${encode(item.name)}</strong>`, ...item.details.map(encode)].join('<br>');
        },
      },
      series: [{
        type: 'bar', barMaxWidth: narrow ? 12 : 22,
        data: view.items.map(item => ({
          value: item.value,
          itemStyle: { color: item.ours ? css('--accent') : (dark.matches ? '#5d707a' : '#a9b8c0'), borderRadius: [0, 4, 4, 0] },
        })),
        label: {
          show: true, position: 'right', color: css('--ink'), fontSize: narrow ? 11 : 12,
          formatter: point => view.items[point.dataIndex].label,
        },
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
    const legendRows = Math.ceil(view.series.length / (narrow ? 1 : 4));
    return {
      ...basics(),
      legend: { bottom: 0, textStyle: { color: css('--ink'), fontSize: narrow ? 11 : 12 }, itemHeight: 8, itemGap: narrow ? 6 : 12 },
      grid: { left: 8, right: 16, top: 34, bottom: 34 + legendRows * (narrow ? 18 : 22), containLabel: true },
      xAxis: { type: 'log', name: view.axis, nameLocation: 'middle', nameGap: 26, min: view.axis === 'size' ? 16 : 0.1, max: view.axis === 'size' ? 8192 : 1e6, ...axisStyle(), axisLabel: { ...axisStyle().axisLabel, formatter: x => (x < 1 ? '0' : x >= 1e6 ? '1M' : x >= 1000 ? `${x / 1000}k` : `${x}`) } },
      yAxis: { type: 'log', name: 'time of one rental', nameTextStyle: { color: css('--soft'), align: 'left' }, ...axisStyle(), axisLabel: { ...axisStyle().axisLabel, formatter: value => tick(value, view.unit) } },
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
        };
      }),
    };
  }

  for (const figure of document.querySelectorAll('figure.plot')) {
    const list = views[figure.dataset.lab] ?? [];
    const select = figure.querySelector('select');
    const canvas = figure.querySelector('.canvas');
    if (list.length === 0) { figure.remove(); continue; }
    for (const [index, view] of list.entries()) select.add(new Option(view.title, index));
    let chart = null;
    const draw = () => {
      const view = list[select.value];
      canvas.style.height = view.kind === 'bars' ? `${Math.max(180, 60 + view.items.length * (canvas.clientWidth < 560 ? 42 : 34))}px` : '480px';
      chart?.dispose();
      chart = echarts.init(canvas, null, { renderer: 'svg' });
      chart.setOption(view.kind === 'bars' ? bars(view, canvas.clientWidth) : lines(view, canvas.clientWidth));
    };
    select.addEventListener('change', draw);
    dark.addEventListener('change', draw);
    let width = 0;
    new ResizeObserver(() => {
      if (canvas.clientWidth !== width) { width = canvas.clientWidth; draw(); }
    }).observe(canvas);
  }
})();
