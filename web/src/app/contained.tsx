import { Component } from 'react'
import { type Texts, TextsContext } from '../texts/texts.ts'
import { tellProblem } from './problems.tsx'

type Props = { onFailed: () => void; children: React.ReactNode }

/** A piece beside the page: when it fails, that is told, it goes, and the page with what is written in it stays. */
export class Contained extends Component<Props, { failed: boolean }> {
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
