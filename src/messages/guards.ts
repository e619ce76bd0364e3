/**
 * The sentences of guards about paths, commands and hosts, in Chinese. `{because}` is what follows "because" in the server's
 * sentence and stays in English; what stands in square brackets is left out where a value of it is missing.
 */
export const guardMessages: Readonly<Record<string, string>> = {
  path_unusable: "{path} 不能用作路径[：{because}]。请写成相对于工作区的路径，例如 src/main.ts。",
  path_outside_workspace:
    "{path} 在工作区之外[（{part}）]。请使用工作区内的路径，或请人将其文件夹加入 tools.allowedPaths。",
  path_not_allowed: "{path} 不在 tools.allowedPaths 开放的范围内[（{part}）]。请人将其文件夹加入 tools.allowedPaths。",
  path_of_system: "{path} 属于设备或内核文件，工具不能使用[（{part}）]。",
  path_not_given: "{path} 不在此次调用可用的路径之内[（{part}）]。",
  path_protected: "{path} 受保护，任何工具都不能使用[：{because}][（{part}）]。须由人来做。",
  path_leads_to_confirmed:
    "{path} 是一个链接，指向每次都须由人确认的路径[（{part}）]。请直接使用它指向的路径再次调用。",
  path_not_plain: "{path} 不是普通文件，因此不会打开[（{part}）]。",
  path_hard_linked: "{path} 有多个名称（硬链接），修改会在所有名称下生效[（{part}）]。请写入其他路径，或请人处理。",
  path_unknown: "无法确定 {path} 是否在工作区内[（{part}）]。请检查沿途的链接和文件夹。",
  path_confirmed: "使用 {path} 每次都须由人确认[：{because}][（{part}）]。",
  input_too_many_texts: "输入中的文本太多，无法逐一检查是否为受保护的路径，因此询问人。",
  folder_too_large: "{path} 中的文件太多，无法逐一检查，因此询问人[（{part}）]。",
  command_dangerous: "危险命令，已阻止：{part}[（{because}）]。没有任何配置可以允许它。",
  command_denied: "命令 {line} 被禁止，它出现在 {part} 中。请去掉这一部分，或改用其他工具。",
  command_connects: "{part} 通过 {path} 打开网络连接。请改用网络工具。",
  command_not_allowed: "{part} 不被允许：只有 tools.shell.allow 中的命令可以运行。",
  command_names_denied: "{part} 提到了被禁止的 {line}，其他程序可能会运行它。",
  command_runs_others: "{part} 可能运行其他程序[：{because}]。",
  command_unproved: "无法确定此命令会运行什么[：{because}]。",
  command_network: "此命令可以使用网络。主机规则在命令内部不起作用：它能访问所有主机，或一个都不能。",
  command_too_long: "它提到的路径太多，无法逐一检查。",
  command_allowed: "它的每一部分都被允许：{parts}。",
  command_destroys: "它会删除或覆盖内容，在 sandbox 模式下也须先由人查看：{parts}。",
  command_held: "它在沙箱中运行，这在 sandbox 模式下已经足够：只写工作区，没有网络。",
  variable_opaque: "set_env 为本会话设置的变量 {variable} 可能改变此命令运行或读取的内容。",
  address_unreadable: "地址无法识别：{text}",
  host_allowed: "{host} 在允许的主机列表中。",
  hosts_allowed: "{hosts} 在允许的主机列表中。",
  host_unlisted: "{host} 不在任何主机列表中。",
  host_denied: "{host} 在禁止的主机列表中。",
  host_own: "{host} 是 Quartermaster 自己的地址，任何工具都不能访问。",
  host_metadata: "{host} 提供云主机的元数据，任何工具都不能访问。",
  host_private: "{host} 是本机或内部网络的地址。若要开放，请将它加入 tools.hosts.allow。",
  host_unencrypted: "与 {host} 的连接没有加密。",
  port_unusual: "{host} 使用的不是常用端口，可能是任何服务。",
}
