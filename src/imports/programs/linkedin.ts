import type { Program } from './program.ts'

export const linkedin: Program = {
  id: 'linkedin',
  label: 'LinkedIn',
  sources: [
    'https://www.linkedin.com/help/linkedin/answer/a566336',
    'public code that reads exports: "First Name,Last Name,URL,Email Address,Company,Position,Connected On"',
  ],
  files: [
    {
      // Connections.csv. Lines of notes stand before the header.
      kind: 'contacts',
      evidence: ['First Name', 'Last Name', 'Email Address', 'Position', 'Connected On'],
      columns: {
        'First Name': 'first_name',
        'Last Name': 'last_name',
        'Email Address': 'email',
        Company: 'company',
        Position: 'title',
        URL: null,
      },
    },
  ],
}
