import { Link } from '../app/link.ts'
import type { Cell, View } from './view.ts'

/** A report as a table. A number with records is a link to them. */
export function ReportTable({ view, label }: { view: Pick<View, 'columns' | 'rows'>; label: string }) {
  const { columns, rows } = view
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll a table that is wider than the screen
    <section className="report-scroll" tabIndex={0} aria-label={label}>
      <table className="report-table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ label, number }) => (
              <th key={label} scope="col" className={number ? 'number' : undefined}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells, sum }) => (
            <tr key={key} data-sum={sum}>
              {cells.map((cell, index) => {
                const { label = '', number } = columns[index] ?? {}
                const said = `${cells[0]?.shown}, ${label}: ${cell.shown}`
                return index === 0 ? (
                  <th key={label} scope="row" title={cell.shown}>
                    {cell.shown}
                  </th>
                ) : (
                  <td key={label} className={number ? 'number numbers' : undefined}>
                    <Figure {...cell} said={said} />
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** A number, as a link if it has records. */
export const Figure = ({ shown, target, said }: Pick<Cell, 'shown' | 'target'> & { said: string }) =>
  target ? (
    <Link to={target.to} search={target.search} preload={false} aria-label={said}>
      {shown}
    </Link>
  ) : (
    shown
  )
