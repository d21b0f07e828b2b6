export const companies = {}
