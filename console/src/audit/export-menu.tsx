import { Menu } from "@mantine/core"
import { file } from "../api/http.ts"
import { Icon } from "../ui/icon.tsx"
import { useTell } from "../ui/notices.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { useWords } from "../words/words.tsx"
import { paramsOf, type AuditSearch } from "./queries.ts"

/** Downloads what the filters show. */
export function ExportMenu({ search }: { search: AuditSearch }) {
  const words = useWords()
  const tell = useTell()
  const problemText = useProblemText()
  const save = async (format: "jsonl" | "csv") => {
    const params = paramsOf(search)
    params.set("format", format)
    try {
      saveAs(`quartermaster-audit.${format}`, await file(`/v1/audit/export?${params.toString()}`))
    } catch (error) {
      tell({ icon: "alert-triangle", text: problemText(error), ms: 12_000 })
    }
  }
  return (
    <Menu position="bottom-end" width={220} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <button type="button" className="btn btn-s">
          {words.audit.export}
          <Icon name="download" small />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void save("jsonl")}>{words.audit.exportJson}</Menu.Item>
        <Menu.Item onClick={() => void save("csv")}>{words.audit.exportCsv}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function saveAs(name: string, bytes: ArrayBuffer): void {
  const address = URL.createObjectURL(new Blob([bytes]))
  Object.assign(document.createElement("a"), { href: address, download: name }).click()
  // The browser reads it after this turn.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
