import { type ComboboxItem, createTheme, type MantineColorsTuple, type OptionsFilter } from '@mantine/core'
import { includesText } from './plain-text.ts'

// One accent colour: the primary action and the focus.
const accent: MantineColorsTuple = [
  '#eef2ff',
  '#dbe3fd',
  '#b6c5f8',
  '#8fa5f3',
  '#6c88ee',
  '#4a69e0',
  '#3a5bd9',
  '#2f4cbd',
  '#263f9c',
  '#1e3279',
]

// Dark enough for white text on it, and as text on white.
const red: MantineColorsTuple = [
  '#fff1ef',
  '#ffe1dd',
  '#ffc4bd',
  '#ff9d92',
  '#f26b5e',
  '#d0392d',
  '#c4281c',
  '#a82217',
  '#8b1f16',
  '#741d16',
]

// The greys of inputs, buttons and lines in the dark: of the hue of the surfaces in frame.css.
const dark: MantineColorsTuple = [
  '#c9ccd3',
  '#b6bac4',
  '#8b909c',
  '#6c717d',
  '#434854',
  '#373b46',
  '#262a33',
  '#1d2027',
  '#15171c',
  '#101216',
]

const fonts = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif'

/** The options of an input that contain the typed text. They have no groups. */
const optionsWith: OptionsFilter = ({ options, search, limit }) =>
  (options as ComboboxItem[]).filter(({ label }) => includesText(label, search)).slice(0, limit)

export const theme = createTheme({
  primaryColor: 'accent',
  respectReducedMotion: true,
  primaryShade: { light: 6, dark: 5 },
  colors: { accent, red, dark },
  fontFamily: fonts,
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  // In rem: they grow with the text size that a person has chosen.
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  defaultRadius: 6,
  headings: {
    fontFamily: fonts,
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.25rem' }, h2: { fontSize: '0.875rem' } },
  },
  components: {
    Button: { defaultProps: { size: 'xs' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    // Both signs have no room beside the value.
    Select: { defaultProps: { allowDeselect: false, clearSectionMode: 'clear', filter: optionsWith } },
    Autocomplete: { defaultProps: { filter: optionsWith } },
    TagsInput: { defaultProps: { filter: optionsWith } },
    TextInput: { defaultProps: { size: 'sm' } },
    // The page itself never scrolls, and Mantine's scroll lock adds a style that the content policy
    // refuses.
    Modal: { defaultProps: { centered: true, lockScroll: false, overlayProps: { backgroundOpacity: 0.35 } } },
    Popover: { defaultProps: { shadow: 'md' } },
    // Without the empty first element, which is not allowed in a menu. The menu itself takes the focus.
    // A menu fits into the room that is left: it wraps its texts, and scrolls.
    Menu: {
      defaultProps: {
        shadow: 'md',
        withInitialFocusPlaceholder: false,
        middlewares: { size: { padding: 5 } },
      },
    },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false } },
  },
})
