import { Menu } from "@mantine/core"
import { Icon } from "../ui/icon.tsx"
import { useWords } from "../words/words.tsx"
import { paramsOf, type AuditSearch } from "./queries.ts"

/** Downloads what the filters show. */
export function ExportMenu({ search }: { search: AuditSearch }) {
  const words = useWords()
  const address = (format: "jsonl" | "csv") => {
    const params = paramsOf(search)
    params.set("format", format)
    return `/v1/audit/export?${params.toString()}`
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
        <Menu.Item component="a" href={address("jsonl")} download>
          {words.audit.exportJson}
        </Menu.Item>
        <Menu.Item component="a" href={address("csv")} download>
          {words.audit.exportCsv}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
