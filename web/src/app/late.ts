import { type ComponentType, createElement, lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { useTexts } from '../texts/texts.ts'
import { releaseKeys } from './commands.ts'
import { whenIdle } from './idle.ts'
import { loaded } from './loading.ts'
import { showProblem } from './problems.tsx'

/**
 * A component that is loaded when it is first drawn, or before, when the page is idle. Until then, `meanwhile` is drawn. `own`: as
 * in whenIdle.
 */
export function late<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  meanwhile?: ReactNode,
  own = false,
) {
  const Loaded = lazy(async () => ({ default: await loaded(load()) })) as ComponentType<Props>
  whenIdle(load, own)
  return (props: Props) => createElement(Suspense, { fallback: meanwhile }, createElement(Loaded, props))
}

/**
 * A part of the app that is loaded when it is first asked for, or before, when the page is idle. `usePart` returns it as soon
 * as it is there; if it cannot be loaded, it says so and calls `onFailed`.
 */
export function latePart<Part>(load: () => Promise<Part>) {
  let part: Part | undefined
  let loading: Promise<Part> | undefined
  function get(): Promise<Part> {
    loading ??= load().then((found) => {
      part = found
      return found
    })
    loading.catch(() => {
      loading = undefined
    })
    return loading
  }
  let waits = false
  return {
    now: (): Part | undefined => part,
    /** With `may`, the part is loaded before it is asked for. */
    usePart(asked: boolean, onFailed: () => void, may = true): Part | undefined {
      const t = useTexts()
      const [, setFound] = useState(0)
      const missing = asked && part === undefined
      // biome-ignore lint/correctness/useExhaustiveDependencies: the same for all of its uses
      useEffect(() => {
        if (!may || waits) return
        waits = true
        whenIdle(get, true)
      }, [may])
      // biome-ignore lint/correctness/useExhaustiveDependencies: loaded once
      useEffect(() => {
        if (!missing) return
        let current = true
        loaded(get()).then(
          () => current && setFound((before) => before + 1),
          (error) => {
            if (!current) return
            releaseKeys()
            showProblem(error, t)
            onFailed()
          },
        )
        return () => {
          current = false
        }
      }, [missing])
      return asked ? part : undefined
    },
  }
}
