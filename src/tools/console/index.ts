import type { Tool } from "../../model/tool.ts"
import { consolePrint } from "./console-print.ts"

export const consoleTools = (print: (text: string) => void): Tool[] => [consolePrint(print)]
