import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { disk } from "../store/sqlite/database.ts"

/**
 * The fast tests do not wait for the disk: nobody cuts the power while they run, and a killed process loses nothing that
 * was written. The full tests and the soak sync as the product does.
 */
disk.syncs = false
fs.fsyncSync = fs.fdatasyncSync = () => {}
syncBuiltinESMExports()
