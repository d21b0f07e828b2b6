import type {
  MenuDropdownProps,
  MenuProps,
  Menu as Menus,
  PopoverDropdownProps,
  PopoverProps,
} from '@mantine/core'
import { useMergedRef } from '@mantine/hooks'
import {
  Children,
  type ComponentType,
  cloneElement,
  createElement,
  isValidElement,
  type ReactElement,
  type ReactNode,
  type Ref,
  useEffect,
  useId,
  useLayoutEffect,
  useState,
} from 'react'
import { latePart } from '../app/late.ts'

type Parts = typeof import('./floating-parts.ts')

const parts = latePart(() => import('./floating-parts.ts'))

type TargetProps = { children: ReactElement }
type Given = {
  opened?: boolean
  onChange?: (opened: boolean) => void
  withRoles?: boolean
  children?: ReactNode
}

/** Stands for the target, which is drawn elsewhere, so that the dropdown is placed beside it. */
function Anchor({ element, ref }: { element: HTMLElement; ref?: Ref<HTMLElement> }) {
  const give = useMergedRef(ref)
  useLayoutEffect(() => {
    give(element)
    return () => void give(null)
  }, [give, element])
  return null
}

/**
 * A menu or popover with the parts and names of Mantine's. Its target is drawn at once; the dropdown and its program are
 * loaded when it first opens, or before, when the page is idle.
 */
function floating<Props extends Given, DropdownProps extends object>(
  name: keyof Parts,
  popup: 'menu' | 'dialog',
) {
  const Target = (_: TargetProps) => null
  const Dropdown = (_: DropdownProps & { children?: ReactNode }) => null

  function Late({ opened: given, onChange, withRoles = true, children, ...props }: Props) {
    const id = useId()
    const [own, setOwn] = useState(false)
    const opened = given ?? own
    const [asked, setAsked] = useState(opened)
    if (opened && !asked) setAsked(true)
    const [element, setElement] = useState<HTMLElement | null>(null)
    function set(next: boolean) {
      setOwn(next)
      onChange?.(next)
    }
    const found = parts.usePart(asked, () => set(false))
    const pieces = Children.toArray(children).filter(isValidElement)
    const target = pieces.find(({ type }) => type === Target) as ReactElement<TargetProps>
    const dropdown = pieces.find(({ type }) => type === Dropdown) as ReactElement<DropdownProps>
    const child = target.props.children as ReactElement<{
      ref?: Ref<HTMLElement>
      onClick?: (event: unknown) => void
    }>
    const toggles = popup === 'menu' || given === undefined
    const ref = useMergedRef(child.props.ref, setElement)
    return (
      <>
        {cloneElement<Record<string, unknown>>(child, {
          ref,
          ...(withRoles && {
            id,
            'aria-haspopup': popup,
            'aria-expanded': opened,
            'aria-controls': opened && found ? `${id}-dropdown` : undefined,
          }),
          'data-expanded': opened || undefined,
          ...(toggles && {
            onClick(event: unknown) {
              child.props.onClick?.(event)
              set(!opened)
            },
          }),
        })}
        {found && element && (
          <Opened
            name={name}
            found={found}
            id={id}
            opened={opened}
            element={element}
            withRoles={withRoles}
            dropdown={dropdown}
            props={props}
            onChange={set}
          />
        )}
      </>
    )
  }
  return Object.assign(Late, { Target, Dropdown })
}

type OpenedProps = {
  name: keyof Parts
  found: Parts
  id: string
  opened: boolean
  element: HTMLElement
  withRoles: boolean
  dropdown: ReactElement
  props: object
  onChange: (opened: boolean) => void
}

function Opened({ name, found, opened, element, dropdown, props, ...given }: OpenedProps) {
  const { Target, Dropdown } = found[name]
  // It returns the focus only if it was closed before.
  const [mounted, setMounted] = useState(false)
  useEffect(() => setMounted(true), [])
  return createElement(
    found[name] as typeof Menus,
    { ...props, ...given, opened: opened && mounted },
    <Target>
      <Anchor element={element} />
    </Target>,
    createElement(Dropdown as typeof Menus.Dropdown, dropdown.props as MenuDropdownProps),
  )
}

/** A part of a menu: drawn only in its dropdown, so after the menu is loaded. */
const part = <Name extends 'Item' | 'RadioItem' | 'Label' | 'Divider'>(name: Name) =>
  ((props: object) =>
    createElement(
      (parts.now() as Parts).Menu[name] as ComponentType,
      props,
    )) as unknown as (typeof Menus)[Name]

/** Mantine's menu, which is loaded when it first opens. */
export const Menu = Object.assign(floating<MenuProps, MenuDropdownProps>('Menu', 'menu'), {
  Item: part('Item'),
  RadioItem: part('RadioItem'),
  Label: part('Label'),
  Divider: part('Divider'),
})

/** Mantine's popover, which is loaded when it first opens. */
export const Popover = floating<PopoverProps, PopoverDropdownProps>('Popover', 'dialog')
