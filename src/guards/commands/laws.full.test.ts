import { commandLaws } from "./laws.contract.ts"

commandLaws(2000)
