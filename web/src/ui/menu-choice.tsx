import { CheckIcon } from '@primer/octicons-react'
import { Menu } from './floating.tsx'

type Props = { value: string; chosen: boolean; onChoose: () => void; children: React.ReactNode }

/** An entry of a menu in which one of several is chosen. */
export const MenuChoice = ({ value, chosen, onChoose, children }: Props) => (
  <Menu.RadioItem
    value={value}
    checked={chosen}
    checkIcon={<CheckIcon size={14} />}
    closeMenuOnClick
    onChange={onChoose}
  >
    {children}
  </Menu.RadioItem>
)
