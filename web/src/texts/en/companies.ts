export const companies = {
  open_website: (name: string) => `Open the website of ${name}`,
  set_industry: 'Set industry',
  industry_set: (n: number, written: string, industry: string) =>
    n === 1 ? `Industry ${industry} set for 1 company` : `Industry ${industry} set for ${written} companies`,
  industry_cleared: (n: number, written: string) =>
    n === 1 ? 'Industry cleared for 1 company' : `Industry cleared for ${written} companies`,
}
