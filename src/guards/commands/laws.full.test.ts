import { commandLaws } from "./laws.contract.ts"

commandLaws(700)
