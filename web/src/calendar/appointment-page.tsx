import { Page } from '../ui/page.tsx'

export const AppointmentPage = () => <Page title="AppointmentPage">{null}</Page>
