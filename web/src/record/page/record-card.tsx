import { Portal, Skeleton } from '@mantine/core'
import { useRouterState } from '@tanstack/react-router'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import type { RecordKind } from '../../api/record-api.ts'
import { useFormats } from '../../app/formats.ts'
import { useTexts } from '../../texts/texts.ts'
import { useRecord } from '../fields/linked.tsx'
import { type Kind, useKind } from '../kinds.ts'
import '../fields/linked.css'

// So that a mouse that moves across a list opens no card.
const open_ms = 400
// So that the mouse reaches the card.
const close_ms = 150
const gap = 8

type Shown = { link: HTMLElement; kind: RecordKind; id: number }

const linkAt = (target: EventTarget | null) =>
  target instanceof Element ? target.closest<HTMLElement>('[data-card]') : null

/**
 * The card of the record whose link is under the mouse or has the keyboard focus. One card serves all links: a card
 * for each made the first drawing of a table slow.
 */
export function RecordCards() {
  const [shown, setShown] = useState<Shown | null>(null)
  const id = useId()
  const path = useRouterState({ select: ({ location }) => location.href })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has other links
  useEffect(() => setShown(null), [path])
  useEffect(() => followLinks(setShown), [])
  const link = shown?.link
  useEffect(() => {
    link?.setAttribute('aria-describedby', id)
    return () => link?.removeAttribute('aria-describedby')
  }, [link, id])
  if (!shown?.link.isConnected) return null
  return (
    <Portal>
      <PlacedCard key={`${shown.kind} ${shown.id}`} id={id} shown={shown} />
    </Portal>
  )
}

/** Tells which link is under the mouse or has the focus, after a moment. Returns the end of it. */
function followLinks(show: (shown: Shown | null) => void): () => void {
  const ending = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let wanted: HTMLElement | null = null
  function want(link: HTMLElement | null) {
    if (link === wanted) return
    wanted = link
    clearTimeout(timer)
    const [kind, id] = link?.dataset.card?.split(' ') ?? []
    timer = link
      ? setTimeout(() => show({ link, kind: kind as RecordKind, id: Number(id) }), open_ms)
      : setTimeout(() => show(null), close_ms)
  }
  function close() {
    clearTimeout(timer)
    wanted = null
    show(null)
  }
  const on = <Name extends keyof DocumentEventMap>(
    name: Name,
    listener: (event: DocumentEventMap[Name]) => void,
  ) => document.addEventListener(name, listener, { capture: true, signal: ending.signal })
  on('pointerover', ({ target, pointerType }) => {
    if (pointerType === 'touch' || !(target instanceof Element)) return
    const card = target.closest<HTMLElement>('.record-card')
    if (!card) return want(linkAt(target))
    // It stays while the mouse is over it.
    clearTimeout(timer)
    wanted = card
  })
  on('focusin', ({ target }) => {
    const link = linkAt(target)
    if (link?.matches(':focus-visible')) want(link)
  })
  on('focusout', ({ target }) => linkAt(target) && want(null))
  on('keydown', ({ key }) => key === 'Escape' && close())
  on(
    'pointerdown',
    ({ target }) => target instanceof Element && target.closest('.record-card') === null && close(),
  )
  // The timer runs on: the focus may scroll its link into view.
  on('scroll', () => show(null))
  return () => {
    clearTimeout(timer)
    ending.abort()
  }
}

/** A card below its link, or above it where there is no room. */
function PlacedCard({ id, shown: { link, kind, id: record_id } }: { id: string; shown: Shown }) {
  const card = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    function place() {
      if (!card.current) return
      const { left, top, bottom } = link.getBoundingClientRect()
      const { offsetWidth, offsetHeight, style } = card.current
      const fits = bottom + gap + offsetHeight <= window.innerHeight
      style.left = `${Math.max(gap, Math.min(left, window.innerWidth - offsetWidth - gap))}px`
      style.top = `${fits ? bottom + gap : Math.max(gap, top - gap - offsetHeight)}px`
    }
    place()
    // The card grows when its record is there.
    const growing = new ResizeObserver(place)
    if (card.current) growing.observe(card.current)
    return () => growing.disconnect()
  }, [link])
  return (
    <div ref={card} id={id} role="tooltip" className="record-card">
      <Content kind={kind} id={record_id} />
    </div>
  )
}

// Mounted while the card is open, so nothing is read before.
function Content({ kind, id }: { kind: RecordKind; id: number }) {
  const t = useTexts()
  const formats = useFormats()
  const { nameOf, lines }: Kind = useKind(kind)
  const record = useRecord(kind, id)
  if (!record)
    return (
      <>
        <Skeleton height={12} width={120} my={4} />
        <Skeleton height={12} width={160} my={8} />
      </>
    )
  return (
    <>
      <strong>{nameOf(record)}</strong>
      {lines(record, t, formats)
        .filter(Boolean)
        .map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing but their position
          <span key={index}>{line}</span>
        ))}
    </>
  )
}
