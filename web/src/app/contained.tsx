import { Component, type ComponentType, lazy, Suspense } from 'react'
import { type Texts, TextsContext } from '../texts/texts.ts'
import { loaded } from './loading.ts'
import { tellProblem } from './problems.tsx'

type Props = { onFailed: () => void; children: React.ReactNode }

/** A piece beside the page: when it fails, that is told, it goes, and the page with what is written in it stays. */
class Contained extends Component<Props, { failed: boolean }> {
  static contextType = TextsContext
  declare context: { texts: Texts }
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }
  override componentDidCatch(error: unknown) {
    tellProblem(error, this.context.texts)
    this.props.onFailed()
  }
  override render() {
    return this.state.failed ? null : this.props.children
  }
}

/** A piece beside the page whose program is loaded when it is first shown; when it cannot be, the next time tries again. */
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
