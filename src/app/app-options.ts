import type { PermissionSources, ToolPermission } from "../core/permission.ts"
import type { UnsetVariables } from "../core/unset-variables.ts"
import type { QuartermasterOptions } from "./quartermaster.ts"

/** The options of a host, and those that only our own command line sets. */
export interface AppOptions extends QuartermasterOptions {
  /** Permissions from an untrusted file. They apply only where they are stricter. */
  tightening?: Readonly<Record<string, ToolPermission>>
  /** The sources of tools' permissions, by tool and key, for messages: `quartermaster.yml:12 tools.permissions.…`. */
  permissionSources?: Readonly<Record<string, PermissionSources>>
  /** The source of each rule of the configuration, for messages: `quartermaster.yml rules[3]`. */
  ruleSources?: readonly string[]
  /** Variables that the configuration reads and that are not set: what needs them fails with their names. */
  unset?: UnsetVariables
  /** Interval of ending expired and abandoned calls, in milliseconds (default: 30000); 0 turns it off. */
  sweepMs?: number
  /** Absolute paths that no tool reads or writes, such as the folder with tokens. */
  privatePaths?: readonly string[]
  /** Absolute paths that tools read but never write, such as configuration files. */
  readOnlyPaths?: readonly string[]
  /** The version sent to MCP servers. */
  version?: string
  /** The most milliseconds that a call waits until its workspace is noted for undo; 300 if left out. */
  undoWaitMs?: number
}
