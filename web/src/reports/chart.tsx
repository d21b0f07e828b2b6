import { VisuallyHidden } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { scaleBand, scaleLinear } from '@visx/scale'
import { BarStackHorizontal } from '@visx/shape'
import { useId, useRef, useState } from 'react'
import { Link, useNavigate } from '../app/link.ts'
import { ticksTo } from '../home/ticks.ts'
import type { Bar, View } from './view.ts'

const row_px = 44
const axis_px = 28

type Shown = { key: string; x: number }

/** The sizes and the scales of a chart of a width. */
function layoutOf({ bars }: View, width: number) {
  const narrow = width < 560
  const names_px = narrow ? 120 : 180
  // A character is about 8 px wide, and one of a hint about 7 px.
  const longest_px = bars.map(({ value, hint }) => Math.max(value.length * 8, (hint?.shown.length ?? 0) * 7))
  const values_px = Math.max(narrow ? 76 : 120, ...longest_px.map((px) => px + 12))
  const plot_px = Math.max(0, width - names_px - values_px)
  const height = bars.length * row_px
  const sums = bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0))
  const whole = bars.every(({ parts }) => parts.every(({ value }) => Number.isInteger(value)))
  const ticks = ticksTo(Math.max(...sums, 0), whole)
  const x = scaleLinear({ domain: [0, ticks.at(-1) || 1], range: [0, plot_px] })
  const y = scaleBand({
    domain: bars.map(({ key }) => key),
    range: [0, height],
    paddingInner: 0.4,
    paddingOuter: 0.2,
  })
  const axis_ticks = narrow ? ticks.filter((_, index) => index % 2 === 0) : ticks
  return { width, names_px, values_px, plot_px, height, ticks, axis_ticks, x, y }
}
type Layout = ReturnType<typeof layoutOf>

/**
 * Bars of stacked parts, one row for each. A row is a link to its records: the bars are drawn behind the rows, so that
 * names, focus and values are those of plain links. A click on a part shows the records of the part.
 */
export function Chart({ view, label }: { view: View; label: string }) {
  const { bars } = view
  const { ref, width } = useElementSize<HTMLDivElement>()
  const navigate = useNavigate()
  const [shown, setShown] = useState<Shown | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const stripes = useId()
  const layout = layoutOf(view, width)
  const { names_px, height, x } = layout
  const leftOf = (event: React.MouseEvent) =>
    event.clientX - (list.current?.getBoundingClientRect().left ?? 0)

  /** The part below the pointer. */
  function partAt({ parts }: Bar, event: React.MouseEvent): Bar['parts'][number] | undefined {
    let rest = x.invert(leftOf(event) - names_px)
    if (rest < 0) return undefined
    return parts.find(({ value }) => {
      rest -= value
      return rest <= 0
    })
  }
  function open(bar: Bar, event: React.MouseEvent) {
    // Enter on a link is a click without a pointer. With a key held, the browser opens the link.
    if (!event.detail || event.metaKey || event.ctrlKey || event.shiftKey) return
    const target = partAt(bar, event)?.target
    if (!target || target === bar.target) return
    event.preventDefault()
    navigate({ to: target.to, search: target.search })
  }
  const current = bars.find(({ key }) => key === shown?.key)
  return (
    <figure className="report-chart" aria-label={label}>
      <Legend series={view.series} stripes={stripes} />
      <div ref={ref} className="report-plot" style={{ height: height + axis_px }}>
        <Drawing view={view} layout={layout} stripes={stripes} />
        <ul ref={list} className="report-rows" onPointerLeave={() => setShown(null)}>
          {bars.map((bar) => (
            <RowOfBar
              key={bar.key}
              bar={bar}
              layout={layout}
              onClick={(event) => open(bar, event)}
              events={{
                onPointerMove: (event) => setShown({ key: bar.key, x: leftOf(event) }),
                onFocus: () => setShown({ key: bar.key, x: names_px }),
                onBlur: () => setShown(null),
                onKeyDown: ({ key }) => key === 'Escape' && setShown(null),
              }}
            />
          ))}
        </ul>
        {shown && current && (
          <Tip
            bar={current}
            top={bars.indexOf(current) * row_px + row_px - 2}
            left={Math.max(0, Math.min(shown.x, width - 236))}
          />
        )}
      </div>
    </figure>
  )
}

const Legend = ({ series, stripes }: { series: View['series']; stripes: string }) => (
  <figcaption className="report-legend">
    {series.map(({ key, label, look }) => (
      <span key={key} className="report-key">
        <svg width={12} height={12} aria-hidden>
          <title>{label}</title>
          <rect width={12} height={12} rx={2} fill={fills[look]} className="report-part" />
          {look === 'lost' && <rect width={12} height={12} rx={2} fill={`url(#${stripes})`} />}
        </svg>
        {label}
      </span>
    ))}
  </figcaption>
)

/** The bars with their axis, which nobody but the eye reads. */
function Drawing({ view, layout, stripes }: { view: View; layout: Layout; stripes: string }) {
  const { bars, series, axis } = view
  const { width, names_px, plot_px, height, ticks, axis_ticks, x, y } = layout
  const colour = (key: string) => fills[series.find((one) => one.key === key)?.look ?? 'main']
  const data = bars.map(({ key, parts }) => ({
    key,
    ...Object.fromEntries(series.map((one) => [one.key, amountOf(parts, one.key)])),
  })) as ({ key: string } & Record<string, number | string>)[]
  return (
    <svg className="report-bars" width={width} height={height + axis_px} aria-hidden>
      <defs>
        <pattern
          id={stripes}
          width={6}
          height={6}
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect width={2.5} height={6} fill="var(--surface)" />
        </pattern>
      </defs>
      <g transform={`translate(${names_px} 0)`}>
        {ticks.map((tick) => (
          <line key={tick} className="report-grid" x1={x(tick)} x2={x(tick)} y1={0} y2={height} />
        ))}
        <BarStackHorizontal
          data={data}
          keys={series.map(({ key }) => key)}
          y={({ key }) => key}
          xScale={x}
          yScale={y}
          color={colour}
        >
          {(stacks) =>
            stacks.map(({ bars: parts, key }) =>
              parts
                .filter(({ width }) => width > 0)
                .map(({ index, x, y, width, height, color }) => (
                  <g key={`${key} ${index}`}>
                    <rect className="report-part" x={x} y={y} width={width} height={height} fill={color} />
                    {color === fills.lost && (
                      <rect x={x} y={y} width={width} height={height} fill={`url(#${stripes})`} />
                    )}
                  </g>
                )),
            )
          }
        </BarStackHorizontal>
        <line className="report-axis" x2={plot_px} y1={height} y2={height} />
        {axis_ticks.map((tick, index) => (
          <text key={tick} x={x(tick)} y={height + 18} textAnchor={index ? 'middle' : 'start'}>
            {axis(tick)}
          </text>
        ))}
      </g>
    </svg>
  )
}

type RowProps = {
  bar: Bar
  layout: Layout
  onClick: (event: React.MouseEvent) => void
  events: {
    onPointerMove: (event: React.PointerEvent) => void
    onFocus: () => void
    onBlur: () => void
    onKeyDown: (event: React.KeyboardEvent) => void
  }
}

function RowOfBar({ bar, layout: { names_px, values_px }, onClick, events }: RowProps) {
  const { label, value, hint, target, lines } = bar
  const said = lines.map((line) => `${line.label} ${line.value}`).join(', ')
  const inside = (
    <>
      <span className="report-name" style={{ width: names_px - 12 }}>
        {label}
      </span>
      <span className="report-value numbers" style={{ width: values_px - 8 }}>
        {value}
        {hint && !hint.target && <span className="report-hint">{hint.shown}</span>}
      </span>
      <VisuallyHidden>{said}</VisuallyHidden>
    </>
  )
  return (
    <li style={{ height: row_px }}>
      {target ? (
        <Link
          to={target.to}
          search={target.search}
          className="report-row"
          preload={false}
          onClick={onClick}
          {...events}
        >
          {inside}
        </Link>
      ) : (
        <span className="report-row" {...events}>
          {inside}
        </span>
      )}
      {hint?.target && (
        <Link
          to={hint.target.to}
          search={hint.target.search}
          className="report-hint numbers"
          aria-label={`${label}: ${hint.shown}`}
          preload={false}
        >
          {hint.shown}
        </Link>
      )}
    </li>
  )
}

const Tip = ({ bar, top, left }: { bar: Bar; top: number; left: number }) => (
  <div className="report-tip" aria-hidden style={{ top, left }}>
    <b className="one-line">{bar.label}</b>
    {bar.lines.map((line) => (
      <span key={line.label} className="report-tip-line">
        <span>{line.label}</span>
        <span className="numbers">{line.value}</span>
      </span>
    ))}
  </div>
)

const fills = {
  main: 'var(--stage-new-lead)',
  soft: 'color-mix(in srgb, var(--stage-new-lead) 40%, var(--surface))',
  won: 'var(--stage-won)',
  lost: 'var(--stage-lost)',
}

const amountOf = (parts: Bar['parts'], series: string): number =>
  parts.find((part) => part.series === series)?.value ?? 0
