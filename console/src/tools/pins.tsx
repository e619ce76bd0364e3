import { useMutation, useQuery } from "@tanstack/react-query"
import type { McpPin } from "../../../src/core/mcp.ts"
import { post } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { useMe } from "../api/queries.ts"
import { Icon } from "../ui/icon.tsx"
import { Loading } from "../ui/loading.tsx"
import { useTell } from "../ui/notices.tsx"
import { Block } from "../ui/value-view.tsx"
import { dateText } from "../words/time-text.ts"
import { useProblemText } from "../words/problem-text.ts"
import { useLanguage, useWords } from "../words/words.tsx"
import { compareLines, definitionLines } from "./compare-lines.ts"
import { pinsQuery } from "./queries.ts"
import look from "./tools.module.css"

const waits = ({ state }: McpPin) => state === "new" || state === "changed"

/** The tools of one server. What is new or changed comes first, with what differs, for a person to trust. */
export function Pins({ server }: { server: string }) {
  const words = useWords()
  const { scopes } = useMe()
  const query = useQuery(pinsQuery(server))
  const { data } = query
  const trust = useTrust(server)
  if (data === undefined) return <Loading of={query} lines={2} />
  if (data.length === 0) return <p className="hint">{words.tools.noPins}</p>
  const toLookAt = data.filter(waits)
  const mayManage = scopes.includes("manage")
  const trustPins = (pins: readonly McpPin[]) => trust.mutate(pins)
  return (
    <div className={look["pins"]}>
      {toLookAt.length > 0 && !mayManage && <p className="hint">{words.tools.manageOnly}</p>}
      {toLookAt.length > 1 && mayManage && (
        <button
          type="button"
          className={`btn btn-s ${look["pins-all"]}`}
          disabled={trust.isPending}
          onClick={() => trustPins(toLookAt)}
        >
          {words.tools.trustAll(toLookAt.length)}
        </button>
      )}
      {[...toLookAt, ...data.filter((pin) => !waits(pin))].map((pin) => (
        <Pin
          key={pin.tool}
          pin={pin}
          trust={mayManage && waits(pin) && !trust.isPending ? () => trustPins([pin]) : undefined}
        />
      ))}
    </div>
  )
}

/** Trusts exactly what was shown: if the server offers something else by now, the answer is no. */
function useTrust(server: string) {
  const words = useWords()
  const tell = useTell()
  const problemText = useProblemText()
  return useMutation({
    mutationFn: async (pins: readonly McpPin[]) => {
      for (const { tool, seenHash, hash } of pins)
        await post(`/v1/servers/${encodeURIComponent(server)}/trust`, { tool, shown: [seenHash ?? hash ?? ""] })
      return pins.map(({ tool }) => tool).join(", ")
    },
    onSuccess: (tools) => tell({ icon: "check", text: words.tools.trusted(tools), ms: 8000 }),
    onError: (error) => tell({ icon: "alert-triangle", text: problemText(error), ms: 12_000 }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["tools"] }),
  })
}

function Pin({ pin, trust }: { pin: McpPin; trust: (() => void) | undefined }) {
  const words = useWords()
  const { language } = useLanguage()
  const { tool, state, by, at, definition, seen, warnings } = pin
  const about = {
    new: words.tools.pinNew,
    changed: words.tools.pinChanged,
    gone: words.tools.pinGone,
    pinned: undefined,
  }
  const shown = seen ?? definition
  return (
    <article className={look["pin"]}>
      <header className={look["pin-h"]}>
        <code className="cut">{tool}</code>
        <span className={waits(pin) ? "tag tag-ask" : "tag"}>{words.tools.pinState[state]}</span>
        <span className="grow" />
        {by !== undefined && at !== undefined && (
          <span className="dim wide-only">{words.tools.pinnedBy(by, dateText(at, language, true))}</span>
        )}
        {trust !== undefined && (
          <button type="button" className="btn btn-s" onClick={trust}>
            {words.tools.trust}
          </button>
        )}
      </header>
      {about[state] !== undefined && <p className="soft">{about[state]}</p>}
      {warnings.map((warning) => (
        <p className="strip strip-deny" key={warning}>
          <Icon name="alert-triangle" />
          {warning}
        </p>
      ))}
      {state === "changed" && definition !== undefined && seen !== undefined ? (
        <Difference before={definition} after={seen} />
      ) : (
        shown !== undefined && (
          <details className="fold" open={state === "new"}>
            <summary>{words.tools.definition}</summary>
            <Block text={definitionLines(shown).join("\n")} label={words.tools.definition} />
          </details>
        )
      )}
    </article>
  )
}

/** Line by line what was trusted and what is offered now. Hidden characters are written as codes. */
function Difference({ before, after }: { before: unknown; after: unknown }) {
  const words = useWords()
  const lines = compareLines(definitionLines(before), definitionLines(after))
  const marks = { same: " ", added: "+", removed: "−" }
  return (
    <section className={`term term-s ${look["pin-d"]}`} tabIndex={0} aria-label={words.tools.differs}>
      <pre>
        {lines.map(({ kind, text }, at) => (
          <span key={`${at} ${text}`} data-kind={kind} className={`${look["pl"]} ${look[`pl-${kind}`] ?? ""}`}>
            <span className={look["pl-m"]}>{marks[kind]}</span>
            {text}
            {"\n"}
          </span>
        ))}
      </pre>
    </section>
  )
}
