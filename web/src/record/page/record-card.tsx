import { Portal } from '@mantine/core'
import { useRouterState } from '@tanstack/react-router'
import { useEffect, useId, useState } from 'react'
import type { RecordKind } from '../../api/record-api.ts'
import { latePart } from '../../app/late.ts'
import '../fields/linked.css'

// So that a mouse that moves across a list opens no card.
const open_ms = 400
// So that the mouse reaches the card.
const close_ms = 150

export type Shown = { link: HTMLElement; kind: RecordKind; id: number }

const card = latePart(async () => (await import('./placed-card.tsx')).PlacedCard)

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
  const PlacedCard = card.usePart(shown !== null, () => setShown(null))
  useEffect(() => {
    link?.setAttribute('aria-describedby', id)
    return () => link?.removeAttribute('aria-describedby')
  }, [link, id])
  if (!shown?.link.isConnected || !PlacedCard) return null
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
