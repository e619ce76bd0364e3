import type { Tool } from "../../core/tool.ts"
import { consolePrint } from "./console-print.ts"

export const consoleTools = (print: (text: string) => void): Tool[] => [consolePrint(print)]
