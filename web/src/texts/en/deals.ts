export const deals = {}
