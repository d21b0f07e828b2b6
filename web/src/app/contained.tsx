import { Loader, Portal } from '@mantine/core'
import { Component, type ComponentType, lazy, Suspense, useEffect, useState } from 'react'
import { type Texts, TextsContext, useTexts } from '../texts/texts.ts'
import { releaseKeys } from './commands.ts'
import { whenIdle } from './idle.ts'
import { loaded } from './loading.ts'
import { showProblem } from './problems.tsx'

type Props = { onFailed: () => void; children: React.ReactNode }

/**
 * Contains the failure of a dialog or palette: shows a toast and unmounts it. The page and its unsaved text
 * stay.
 */
class Contained extends Component<Props, { failed: boolean }> {
  static contextType = TextsContext
  declare context: { texts: Texts }
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }
  override componentDidCatch(error: unknown) {
    releaseKeys()
    showProblem(error, this.context.texts)
    this.props.onFailed()
  }
  override render() {
    return this.state.failed ? null : this.props.children
  }
}

const late_ms = 300

/**
 * Shows that a dialog or palette is loading, if it is still open. The status is in the page before its content: screen
 * readers announce changes only.
 */
function LatePart({ opened }: { opened: boolean }) {
  const t = useTexts()
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), late_ms)
    return () => clearTimeout(timer)
  }, [])
  return (
    <Portal>
      <div role="status">
        {late && opened && (
          <div className="late-part">
            <Loader size="sm" role="img" aria-label={t.app.loading} />
          </div>
        )}
      </div>
    </Portal>
  )
}

/** A part that is loaded when it is first shown. */
function contained<Given extends object>(load: () => Promise<ComponentType<Given>>) {
  const part = () => lazy(() => loaded(load()).then((piece) => ({ default: piece })))
  let Part = part()
  return function Late({ given, onFailed }: { given: Given; onFailed: () => void }) {
    const Piece = Part
    const { opened = true } = given as { opened?: boolean }
    function fail() {
      Part = part()
      onFailed()
    }
    return (
      <Contained onFailed={fail}>
        <Suspense fallback={<LatePart opened={opened} />}>
          <Piece {...given} />
        </Suspense>
      </Contained>
    )
  }
}

/**
 * A dialog or palette that is loaded when it is first shown, or before, when the page is idle, unless it is rare. If loading
 * fails, the next opening tries again.
 */
export function later<Given extends { onClose: () => void }>(
  load: () => Promise<ComponentType<Given>>,
  rare = false,
) {
  const Late = contained(load)
  if (!rare) whenIdle(load)
  return (props: Given) => <Late given={props} onFailed={props.onClose} />
}

/**
 * The same of a dialog that stays mounted while it is closed, so that it can return the focus. It is loaded ahead when a page
 * has it: who may not open it does not load it.
 */
export function laterDialog<Given extends { opened: boolean; onClose: () => void }>(
  load: () => Promise<ComponentType<Given>>,
) {
  const Late = contained(async () => {
    const Loaded = await load()
    return function Mounted(props: Given) {
      // It returns the focus only if it was closed before.
      const [mounted, setMounted] = useState(false)
      useEffect(() => setMounted(true), [])
      return <Loaded {...props} opened={props.opened && mounted} />
    }
  })
  let waits = false
  return function LateDialog(props: Given) {
    const [asked, setAsked] = useState(props.opened)
    useEffect(() => {
      if (waits) return
      waits = true
      whenIdle(load, true)
    }, [])
    if (props.opened && !asked) setAsked(true)
    function onFailed() {
      setAsked(false)
      props.onClose()
    }
    return asked && <Late given={props} onFailed={onFailed} />
  }
}
