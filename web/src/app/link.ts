import {
  type ActiveLinkOptions,
  Link as AnyLink,
  redirect as anyRedirect,
  useNavigate as useAnyNavigate,
} from '@tanstack/react-router'
import type { ComponentPropsWithRef, ReactElement } from 'react'
import type { Path, Target } from './addresses.ts'

type LinkProps = Omit<ComponentPropsWithRef<'a'>, 'href'> &
  Pick<ActiveLinkOptions, 'activeOptions' | 'activeProps' | 'preload'>

// For the router, any text is an address. So the app takes these three from here.
type AnyTo = { to: string; search?: object | undefined }
type Way = { replace?: boolean }
const anyLink: (props: AnyTo & LinkProps) => ReactElement = AnyLink
const useAny: () => (target: AnyTo & Way) => Promise<void> = useAnyNavigate
const redirectAny: (target: AnyTo & Way) => unknown = anyRedirect

/** A link to a page of the app. */
export const Link: <P extends Path>(props: Target<P> & LinkProps) => ReactElement = anyLink

/** Shows a page of the app. Resolves when the page is shown. */
type Navigate = <P extends Path>(target: Target<P> & Way) => Promise<void>
export const useNavigate: () => Navigate = useAny

/** Makes the error that a route throws to show another page. */
export const redirect: <P extends Path>(target: Target<P> & Way) => unknown = redirectAny
