//! Commands that set something, and the one that shows all settings.

use clap::ValueEnum;

use super::CommandResult;
use crate::render::RenderMode;
use crate::shell::{DisplayLimit, Flow, Shell, ShellFailure};

pub fn bail(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    shell.settings.bail = switch(&arguments[0])?;
    Ok(Flow::Continue)
}

pub fn changes(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    shell.settings.changes = Some(switch(&arguments[0])?);
    Ok(Flow::Continue)
}

pub fn echo(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    shell.settings.echo = switch(&arguments[0])?;
    Ok(Flow::Continue)
}

pub fn headers(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    shell.settings.header = switch(&arguments[0])?;
    Ok(Flow::Continue)
}

/// Without an argument the switch turns over, as psql's `\timing` does.
pub fn timer(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    shell.settings.timer = match arguments.first() {
        Some(word) => switch(word)?,
        None => !shell.settings.timer,
    };
    confirm(
        shell,
        &format!("Timer is {}.", on_or_off(shell.settings.timer)),
    )
}

pub fn expanded(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    let is_on = shell.settings.mode == Some(RenderMode::Line);
    let turns_on = match arguments.first() {
        Some(word) => switch(word)?,
        None => !is_on,
    };
    if turns_on && !is_on {
        shell.settings.mode_before_expanded = shell.settings.mode;
        shell.settings.mode = Some(RenderMode::Line);
    } else if !turns_on && is_on {
        shell.settings.mode = shell.settings.mode_before_expanded.take();
    }
    confirm(
        shell,
        &format!("Expanded display is {}.", on_or_off(turns_on)),
    )
}

pub fn max_rows(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    match arguments.first() {
        Some(word) => shell.settings.max_rows = limit(word)?,
        None => shell.show_line(&shell.settings.max_rows.text())?,
    }
    Ok(Flow::Continue)
}

pub fn width(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    match arguments.first() {
        Some(word) => shell.settings.width = limit(word)?,
        None => shell.show_line(&shell.settings.width.text())?,
    }
    Ok(Flow::Continue)
}

pub fn null_value(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    shell.settings.null_text = Some(arguments[0].clone());
    Ok(Flow::Continue)
}

pub fn mode(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    let Some(name) = arguments.first() else {
        let mode = shell.settings.mode(shell.output.is_terminal());
        shell.show_line(mode.name())?;
        return Ok(Flow::Continue);
    };
    let mode = RenderMode::from_str(name, true).map_err(|_| {
        let names: Vec<&str> = RenderMode::value_variants()
            .iter()
            .map(|mode| mode.name())
            .collect();
        ShellFailure::Command(format!(
            "there is no mode {name}; choose one of {}",
            names.join(", ")
        ))
    })?;
    match arguments.get(1) {
        Some(table) if mode == RenderMode::Insert => shell.settings.insert_table = table.clone(),
        Some(_) => {
            return Err(ShellFailure::Command(
                "only insert mode takes a table".to_owned(),
            ));
        }
        None => {}
    }
    shell.settings.mode = Some(mode);
    Ok(Flow::Continue)
}

pub fn quit(_: &mut Shell, _: &[String]) -> CommandResult {
    Ok(Flow::Quit)
}

pub fn show(shell: &mut Shell, _: &[String]) -> CommandResult {
    let settings = &shell.settings;
    let is_terminal = shell.output.is_terminal();
    let lines = [
        ("bail", on_or_off(settings.bail).to_owned()),
        (
            "changes",
            on_or_off(settings.changes.unwrap_or(is_terminal)).to_owned(),
        ),
        ("echo", on_or_off(settings.echo).to_owned()),
        ("headers", on_or_off(settings.header).to_owned()),
        ("maxrows", settings.max_rows.text()),
        ("mode", settings.mode(is_terminal).name().to_owned()),
        (
            "nullvalue",
            settings
                .null_text
                .as_ref()
                .map_or("auto".to_owned(), |text| format!("{text:?}")),
        ),
        ("timer", on_or_off(settings.timer).to_owned()),
        ("width", settings.width.text()),
    ];
    for (name, value) in lines {
        shell.show_line(&format!("{name:>9}: {value}"))?;
    }
    Ok(Flow::Continue)
}

fn confirm(shell: &mut Shell, text: &str) -> CommandResult {
    if shell.is_interactive() {
        shell.show_line(text)?;
    }
    Ok(Flow::Continue)
}

fn on_or_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

fn switch(word: &str) -> Result<bool, ShellFailure> {
    match word.to_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Ok(true),
        "off" | "false" | "no" | "0" => Ok(false),
        _ => Err(ShellFailure::Command(format!(
            "{word} is neither on nor off"
        ))),
    }
}

fn limit(word: &str) -> Result<DisplayLimit, ShellFailure> {
    match (word, word.parse::<usize>()) {
        ("auto", _) => Ok(DisplayLimit::Automatic),
        (_, Ok(0)) => Ok(DisplayLimit::Unlimited),
        (_, Ok(count)) => Ok(DisplayLimit::At(count)),
        _ => Err(ShellFailure::Command(format!(
            "{word} is neither a count nor auto"
        ))),
    }
}
