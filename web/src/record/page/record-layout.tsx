import { Button, Group, Tabs, Text } from '@mantine/core'
import { ArrowLeftIcon, ChevronDownIcon, ChevronRightIcon, type Icon } from '@primer/octicons-react'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Path } from '../../app/addresses.ts'
import { holdKeys, useCommands } from '../../app/commands.ts'
import { useFormats } from '../../app/formats.ts'
import { Link } from '../../app/link.ts'
import { useTitle } from '../../app/title.ts'
import { useTexts } from '../../texts/texts.ts'
import { useAddress } from '../../ui/list-view.ts'
import { PageAction } from '../../ui/page-action.tsx'
import { editFirst, editIfAsked } from '../fields/edit-first.ts'
import './record-layout.css'

export type RecordTab = {
  id: string
  label: string
  count?: number | undefined
  content: React.ReactNode
  /** A key, and a button in the header, that show the tab and focus its [data-tab-focus], such as n for a new note. */
  command?: { keys: string; label: string; word: string; icon: Icon }
}

type Props = {
  id: number
  icon: React.ReactNode
  title: string
  subtitle?: React.ReactNode
  /** The first of the actions. */
  lead?: React.ReactNode
  actions?: React.ReactNode
  /** Between the header and the columns. */
  glance?: React.ReactNode
  facts: React.ReactNode
  tabs: RecordTab[]
  /** Whether facts may be edited; `e` edits the first. */
  editable?: boolean
  /** In the side panel, the tab is not in the address, which belongs to the list. */
  panel?: boolean
  /** The link back to the list, on the page only. */
  back?: { to: Path; label: string }
}

/**
 * The layout of a record: name and actions on top, facts on the left, tabs on the right. On narrow screens,
 * they are stacked.
 */
export function RecordLayout(props: Props) {
  const { id, icon, title, subtitle, lead, actions, glance, facts, tabs, panel = false, back } = props
  const { editable = true } = props
  const t = useTexts()
  const formats = useFormats()
  const { address, change } = useAddress()
  const [own, setOwn] = useState<string | null>(null)
  const first = tabs[0]?.id ?? ''
  const wanted = panel ? own : address.tab
  const tab = tabs.some(({ id }) => id === wanted) ? (wanted as string) : first
  const is_named = !panel && tab !== first
  const content = useRef<HTMLDivElement>(null)
  useShownTab(content, is_named)
  const [asked, setAsked] = useState(0)

  const show = (id: string) => (panel ? setOwn(id) : change({ tab: id === first ? null : id }, true))
  useTitle(panel ? null : title)
  // After the tab is shown, which the address decides.
  // biome-ignore lint/correctness/useExhaustiveDependencies: run when the tab has changed
  useEffect(() => {
    if (!asked) return
    function look() {
      const target = content.current?.querySelector<HTMLElement>('[data-tab-focus]')
      if (!target) return false
      target.focus()
      setAsked(0)
      return true
    }
    if (!content.current || look()) return
    // The tab may have to be loaded.
    const waiting = new MutationObserver(look)
    waiting.observe(content.current, { childList: true, subtree: true })
    return () => waiting.disconnect()
  }, [asked, tab])
  const commands = tabs.flatMap(({ id, command }) => {
    function run() {
      holdKeys()
      show(id)
      setAsked(asked + 1)
    }
    return command ? [{ id, ...command, run }] : []
  })
  useCommands(
    commands.map(({ id, keys, label, run }) => ({ id: `tab-${id}`, group: 'actions', keys, label, run })),
  )
  const article = useRef<HTMLElement>(null)
  // On a phone, the facts are folded.
  const [unfolded, setUnfolded] = useState(false)
  function edit() {
    flushSync(() => setUnfolded(true))
    editFirst(article.current)
  }
  useCommands(
    [{ id: 'edit-record', label: t.app.keys.edit, group: 'actions', keys: 'e', run: edit }],
    editable,
  )
  useEffect(() => {
    if (panel) editIfAsked(id, article.current)
  }, [panel, id])
  const Title = panel ? 'h2' : 'h1'
  return (
    <article ref={article} className="record" aria-label={title}>
      <div className="record-inside">
        <header className="record-line">
          {back && !panel && (
            <Link to={back.to} className="record-back" aria-label={back.label} title={back.label}>
              <ArrowLeftIcon />
            </Link>
          )}
          {icon}
          <div className="record-names">
            <Title className="record-title" title={title}>
              {title}
            </Title>
            {subtitle && <div className="record-subtitle hint">{subtitle}</div>}
          </div>
          {(actions || commands.length > 0) && (
            <Group gap="sm">
              {lead}
              {commands.map(({ id, label, word, icon, run }) => (
                <PageAction key={id} word={word} label={label} icon={icon} onClick={run} />
              ))}
              {actions}
            </Group>
          )}
        </header>
        {glance}
        <div className="record-columns">
          {glance && (
            <Button
              variant="subtle"
              className="record-unfold"
              aria-expanded={unfolded}
              leftSection={unfolded ? <ChevronDownIcon /> : <ChevronRightIcon />}
              onClick={() => setUnfolded(!unfolded)}
            >
              {t.record.facts}
            </Button>
          )}
          <section
            className="record-facts"
            aria-label={t.record.facts}
            data-folded={(glance && !unfolded) || undefined}
          >
            {facts}
          </section>
          <div className="record-tabs" ref={content} data-named={is_named || undefined}>
            <Tabs value={tab} onChange={(id) => id && show(id)} keepMounted={false}>
              <Tabs.List>
                {tabs.map(({ id, label, count }) => (
                  <Tabs.Tab key={id} value={id} fz="sm">
                    {label}{' '}
                    {count ? (
                      <Text span size="sm" c="dimmed" ml={6} className="numbers">
                        {formats.number(count)}
                      </Text>
                    ) : null}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
              {tabs.map(({ id, content: shown }) => (
                <Tabs.Panel key={id} value={id} pt="md">
                  {shown}
                </Tabs.Panel>
              ))}
            </Tabs>
          </div>
        </div>
      </div>
    </article>
  )
}

/** Scrolls to the tab that the address of a new page names, where the facts are above it. */
function useShownTab(tabs: RefObject<HTMLElement | null>, is_named: boolean) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a tab that is chosen later is on the screen
  useLayoutEffect(() => {
    const { current } = tabs
    const facts = current?.previousElementSibling
    if (is_named && facts instanceof HTMLElement && facts.offsetLeft === current?.offsetLeft)
      current.scrollIntoView({ block: 'start' })
  }, [])
}
