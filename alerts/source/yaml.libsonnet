// YAML as people write it: keys in their order and without quotes, long texts over several lines.
// Put together with +, for % takes milliseconds each time.
{
  local order = [
    'apiVersion',
    'kind',
    'metadata',
    'spec',
    'groups',
    'name',
    'interval',
    'rules',
    'alert',
    'record',
    'expr',
    'for',
    'keep_firing_for',
    'labels',
    'severity',
    'product',
    'annotations',
    'summary',
    'description',
    'runbook_url',
    'dashboard_url',
  ],
  local place(key) = local at = std.find(key, order); if at == [] then std.length(order) else at[0],
  local keys(value) = std.sort(std.objectFields(value), function(key) std.char(33 + place(key)) + key),

  local width = 96,
  // How much of a text a part takes; std.findSubstr takes seconds for what this takes milliseconds.
  local times(text, part) = std.length(text) - std.length(std.strReplace(text, part, '')),
  local has(text, part) = times(text, part) > 0,
  // One step of a fold, made now: what is left for later is held up by all steps before it.
  local made(done, held, open=0) =
    if std.length(done) + std.length(held) + open >= 0 then { done: done, held: held, open: open },
  // A template's {{ ... }} stays on one line, if it fits there.
  local tokens(text) =
    local end = std.foldl(
      function(state, word)
        local open = state.open + times(word, '{{') - times(word, '}}');
        local held = if state.held == '' then word else state.held + ' ' + word;
        if open > 0 then made(state.done, held, open)
        else made(state.done + (if std.length(held) > width then std.split(held, ' ') else [held]), ''),
      std.split(text, ' '),
      made([], '')
    );
    end.done + (if end.held == '' then [] else std.split(end.held, ' ')),
  local lines(text, indent) =
    local end = std.foldl(
      function(state, word)
        if state.held == '' then made(state.done, word)
        else if std.length(state.held) + 1 + std.length(word) + indent > width
        then made(state.done + [state.held], word)
        else made(state.done, state.held + ' ' + word),
      if has(text, '{{') then tokens(text) else std.split(text, ' '),
      made([], '')
    );
    end.done + [end.held],
  local pad(n) = std.repeat(' ', n),

  // A scalar stands plain where YAML cannot take it for anything else.
  local first = std.stringChars('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/('),
  local words = ['true', 'false', 'null', 'yes', 'no', 'on', 'off', 'y', 'n'],
  local digits = std.stringChars('0123456789'),
  local duration(text) =
    std.length(text) > 1 && std.member(digits, text[0]) && std.member(['s', 'm', 'h', 'd'], text[std.length(text) - 1]),
  local plain(text) =
    duration(text) || text != '' && std.member(first, text[0]) && !std.member(words, std.asciiLower(text))
                      && !has(text, ': ') && !has(text, ' #')
                      && !std.endsWith(text, ':') && !std.endsWith(text, ' '),
  local scalar(text) = if plain(text) then text else "'" + std.strReplace(text, "'", "''") + "'",

  local string(text, indent) =
    if has(text, '\n') then
      '|-\n' + std.join('\n', [pad(indent) + line for line in std.split(text, '\n')])
    else if std.length(text) + indent > width && has(text, ' ') && !std.startsWith(text, 'http') then
      '>-\n' + std.join('\n', [pad(indent) + line for line in lines(text, indent)])
    else scalar(text),

  local remark(text, indent) =
    if text == '' then '' else std.join('', ['# ' + line + '\n' + pad(indent) for line in lines(text, indent + 2)]),

  value(value, indent=0)::
    local yaml = self, inner = indent + 2;
    local under(value) =
      if (std.isObject(value) || std.isArray(value)) && std.length(value) > 0
      then '\n' + pad(inner) + yaml.value(value, inner)
      else ' ' + yaml.value(value, inner);
    local comment(one) =
      if std.isObject(one) && std.objectHasAll(one, 'comment') then remark(one.comment, indent) else '';
    if std.isObject(value) then
      if std.length(value) == 0 then '{}'
      else std.join('\n' + pad(indent), [scalar(key) + ':' + under(value[key]) for key in keys(value)])
    else if std.isArray(value) then
      if std.length(value) == 0 then '[]'
      else std.join('\n' + pad(indent), [comment(one) + '- ' + yaml.value(one, inner) for one in value])
    else if std.isString(value) then string(value, indent)
    else std.toString(value),
}
