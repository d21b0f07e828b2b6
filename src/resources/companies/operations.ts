import { standardOperations } from '../writing/operations.ts'
import { recordsOf } from '../writing/records.ts'
import {
  type Company,
  type CompanyValues,
  companies,
  companyCreated,
  companyDeleted,
  companyUpdated,
} from './resource.ts'

export const companyRecords = recordsOf<Company, CompanyValues>(companies)

export const {
  create: createCompany,
  change: changeCompany,
  remove: deleteCompany,
  restore: restoreCompany,
} = standardOperations(companyRecords, {
  created: companyCreated,
  updated: companyUpdated,
  deleted: companyDeleted,
})
