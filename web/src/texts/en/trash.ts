export const trash = {}
