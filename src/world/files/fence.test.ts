import { filesContract } from "./files.contract.ts"

filesContract("a fence that holds its folders", {})
filesContract("a fence that only watches them", { portable: true })
