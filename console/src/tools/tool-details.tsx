import { isObject } from "../../../src/lib/is-object.ts"
import type { ToolInfo } from "../../../src/interfaces/http/routes/tool-schemas.ts"
import { JsonBlock } from "../ui/value-view.tsx"
import { useWords } from "../words/words.tsx"

/** Shows a tool's permission, its limits and its schemas. Folded until somebody wants it. */
export function ToolDetails({ tool }: { tool: ToolInfo }) {
  const words = useWords()
  const { permission, quarantine } = tool
  const list = (value: unknown, none: string) => (Array.isArray(value) && value.length > 0 ? value.join(", ") : none)
  const { maxCallsPerMinute, maxCallsPerHour } = isObject(permission["rateLimit"]) ? permission["rateLimit"] : {}
  const limits = [
    ...(typeof maxCallsPerMinute === "number" ? [words.tools.perMinute(maxCallsPerMinute)] : []),
    ...(typeof maxCallsPerHour === "number" ? [words.tools.perHour(maxCallsPerHour)] : []),
  ]
  const hold = permission["requireResultApproval"]
  const rows: readonly (readonly [string, string | undefined])[] = [
    [words.tools.wireName, tool.wireName],
    [words.tools.group, tool.group],
    [words.tools.roles, list(permission["allowedRoles"], words.tools.everyRole)],
    [words.tools.departments, list(permission["allowedDepartments"], words.tools.everyDepartment)],
    [words.tools.minLevel, typeof permission["minLevel"] === "number" ? String(permission["minLevel"]) : undefined],
    [words.tools.limits, limits.length > 0 ? limits.join(", ") : words.tools.noLimits],
    [words.tools.holds, hold === "always" || hold === "on-error" ? words.tools.hold[hold] : words.tools.hold.never],
    [words.tools.author, tool.author === "" ? undefined : tool.author],
    [words.tools.tags, tool.tags.length > 0 ? tool.tags.join(", ") : undefined],
  ]
  return (
    <>
      {quarantine !== undefined && (
        <p className="strip strip-ask" role="note">
          {quarantine}
        </p>
      )}
      <details className="fold">
        <summary>{words.tools.details}</summary>
        <dl className="kv kv-w">
          {rows.map(
            ([name, value]) =>
              value !== undefined && (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ),
          )}
        </dl>
        <h3 className="lab">{words.tools.schema}</h3>
        <JsonBlock value={tool.inputSchema} label={words.tools.schema} />
        {tool.outputSchema !== undefined && (
          <>
            <h3 className="lab">{words.tools.resultSchema}</h3>
            <JsonBlock value={tool.outputSchema} label={words.tools.resultSchema} />
          </>
        )}
      </details>
    </>
  )
}
