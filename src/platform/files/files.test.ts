import { filesContract } from "./files.contract.ts"

filesContract("files with folders opened by descriptor", {})
filesContract("files with folders checked by real path", { portable: true })
