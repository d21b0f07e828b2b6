// The parts that are loaded when the first menu or popover opens.
export { Menu, Popover } from '@mantine/core'
