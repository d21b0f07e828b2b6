import { Page } from '../ui/page.tsx'

export const CalendarPage = () => <Page title="CalendarPage">{null}</Page>
