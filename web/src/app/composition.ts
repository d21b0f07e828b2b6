/**
 * Whether a key belongs to the composition of an input method, such as the Enter that ends it. Safari sends that Enter after
 * the composition: its key code alone tells (UI Events, "Legacy key models").
 */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229
