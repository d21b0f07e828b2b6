import { Component, type ComponentType, lazy, Suspense } from 'react'
import { type Texts, TextsContext } from '../texts/texts.ts'
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
    showProblem(error, this.context.texts)
    this.props.onFailed()
  }
  override render() {
    return this.state.failed ? null : this.props.children
  }
}

/**
 * A dialog or palette that is loaded when it is first shown. If loading fails, the next opening tries
 * again.
 */
export function later<Given extends { onClose: () => void }>(load: () => Promise<ComponentType<Given>>) {
  const part = () => lazy(() => loaded(load()).then((piece) => ({ default: piece })))
  let Part = part()
  return function Later(props: Given) {
    const Piece = Part
    function onFailed() {
      Part = part()
      props.onClose()
    }
    return (
      <Contained onFailed={onFailed}>
        <Suspense>
          <Piece {...props} />
        </Suspense>
      </Contained>
    )
  }
}
