-- Neovim 0.7 or later: put this into your init.lua, or source it.
local group = vim.api.nvim_create_augroup("palisade", {})

local function start(buffer)
  local config = {
    name = "palisade",
    cmd = { vim.env.PALISADE or "palisade", "lsp" },
    root_dir = vim.fn.getcwd(),
    init_options = { timeout = 5 },
  }
  if vim.lsp.start then
    vim.lsp.start(config)
  else
    local client = vim.lsp.start_client(config)
    if client then
      vim.lsp.buf_attach_client(buffer, client)
    end
  end
end

vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  group = group,
  pattern = { "*.pal", "*.litmus", "*.tpl" }, -- add "*.c" to have C files looked at
  callback = function(event)
    local buffer = event.buf or vim.api.nvim_get_current_buf()
    if vim.fn.expand("%:e") == "pal" then
      vim.bo[buffer].filetype = "pal"
      vim.bo[buffer].commentstring = "// %s"
    end
    start(buffer)
  end,
})

-- The run of a violation, step by step: `:PalisadeRun` opens it in a browser, `:PalisadeRun FILE` writes it.
vim.api.nvim_create_user_command("PalisadeRun", function(command)
  vim.lsp.buf_request(0, "palisade/run", { uri = vim.uri_from_bufnr(0) }, function(failed, run)
    if failed or not run or not run.html then
      vim.notify("Palisade: " .. (run and run.headline or "there is no run"))
      return
    end
    local file = command.args ~= "" and command.args or (vim.fn.tempname() .. ".html")
    local out = assert(io.open(file, "w"))
    out:write(run.html)
    out:close()
    if command.args == "" then
      vim.fn.jobstart({ vim.fn.has("mac") == 1 and "open" or "xdg-open", file }, { detach = true })
    end
  end)
end, { nargs = "?" })
