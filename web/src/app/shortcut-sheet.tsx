import { useState } from 'react'
import { useTexts } from '../texts/texts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { type Command, useOffered } from './commands.ts'
import { Keys } from './keys.tsx'
import './shortcut-sheet.css'

/** All shortcuts of the current page, grouped by where they apply. */
export function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const t = useTexts()
  const offered = useOffered()
  const [before] = useState(() => document.activeElement as HTMLElement | null)
  const { keys } = t.app
  const groups = [
    { label: keys.here, lines: linesOf(offered, ['create', 'actions'], ['sheet']) },
    { label: keys.lists, lines: linesOf(offered, ['lists']) },
    { label: keys.everywhere, lines: linesOf(offered, ['go'], [], ['sheet']) },
  ].filter(({ lines }) => lines.length)
  function close() {
    onClose()
    requestAnimationFrame(() => before?.isConnected && before.focus())
  }
  return (
    <Dialog
      opened
      onClose={close}
      title={t.app.shortcuts}
      size={groups.length > 1 ? 680 : 420}
      returnFocus={false}
      transitionProps={{ duration: 0 }}
    >
      <div className="sheet" data-many={groups.length > 1 || undefined}>
        {groups.map(({ label, lines }) => (
          <section key={label} className="sheet-group" aria-label={label}>
            <h3>{label}</h3>
            <dl>
              {lines.map(({ label: name, keys: all }) => (
                <div key={name} className="sheet-line">
                  <dt>{name}</dt>
                  <dd>
                    {all.map((one, index) => (
                      <span key={one}>
                        {index > 0 && <span className="keys-then"> {keys.or} </span>}
                        <Keys keys={one} />
                      </span>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}

type Line = { label: string; keys: string[] }

/**
 * The commands with keys in these groups, one line per label. `without` and `with_ids` exclude and add
 * commands by id.
 */
function linesOf(
  offered: readonly Command[],
  groups: Command['group'][],
  without: string[] = [],
  with_ids: string[] = [],
): Line[] {
  const lines: Line[] = []
  for (const { id, label, group, keys, also } of offered) {
    if (!keys || without.includes(id) || !(groups.includes(group) || with_ids.includes(id))) continue
    const all = also ? [keys, also] : [keys]
    const line = lines.find((one) => one.label === label)
    if (line) line.keys = [...new Set([...line.keys, ...all])]
    else lines.push({ label, keys: all })
  }
  return lines
}
