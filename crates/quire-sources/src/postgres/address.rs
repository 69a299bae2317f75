//! Where a server is, and how a message names it without the password.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use postgres::Config;
use postgres::config::{Host, SslMode};

use crate::error::SourceError;

const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];
const CONNECT_WAIT: Duration = Duration::from_secs(15);

/// Whether `location` is the address of a PostgreSQL server.
pub(crate) fn is_address(location: &str) -> bool {
    SCHEMES.iter().any(|scheme| location.starts_with(scheme))
}

/// How to connect, and the server's name in messages.
pub(super) fn parse(address: &str) -> Result<(Config, Arc<str>), SourceError> {
    let wrong = |problem: &str| SourceError::Address {
        problem: problem.to_owned(),
    };
    // What the library says about a wrong address might repeat a part of the password.
    let parsed = Config::from_str(address);
    let mut config = parsed.map_err(|_| wrong("write postgresql://user:password@host:port/database, with characters such as @ / : ? in a password as %40 %2F %3A %3F"))?;
    let shown_name = shown_name(&config);
    // A second @ stands in the password, and cut a piece of it off.
    if shown_name
        .as_ref()
        .is_none_or(|name| name.matches('@').count() > 1)
    {
        return Err(wrong(
            "it has no host, or more than one @; write @ in a user's name, a password or a name of a database as %40, or use those without it",
        ));
    }
    let shown_name: Arc<str> = shown_name.unwrap_or_default().into();
    if config.get_ssl_mode() == SslMode::Require {
        let detail = "sslmode=require".to_owned();
        return Err(SourceError::TlsRequired {
            server: shown_name,
            detail,
        });
    }
    config.ssl_mode(SslMode::Disable);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_WAIT);
    }
    if config.get_application_name().is_none() {
        config.application_name("quire");
    }
    Ok((config, shown_name))
}

/// The parts of the address that are no secret; `None` without a host.
fn shown_name(config: &Config) -> Option<String> {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.to_string_lossy().into_owned(),
        None => config.get_hostaddrs().first()?.to_string(),
    };
    let mut name = SCHEMES[0].to_owned();
    if let Some(user) = config.get_user() {
        name.push_str(user);
        name.push('@');
    }
    name.push_str(&host);
    if let Some(port) = config.get_ports().first() {
        name.push_str(&format!(":{port}"));
    }
    if let Some(database) = config.get_dbname() {
        name.push('/');
        name.push_str(database);
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_name_has_no_password() {
        let cases = [
            (
                "postgres://ada:topsecret@db.example:5433/shop",
                "postgresql://ada@db.example:5433/shop",
            ),
            (
                "postgresql://ada:top%40secret@localhost/shop?connect_timeout=3",
                "postgresql://ada@localhost:5432/shop",
            ),
            (
                "postgresql://ada@localhost/shop?password=topsecret",
                "postgresql://ada@localhost:5432/shop",
            ),
            ("postgresql://127.0.0.1", "postgresql://127.0.0.1:5432"),
        ];
        for (address, name) in cases {
            assert_eq!(&*parse(address).unwrap().1, name);
        }
    }

    #[test]
    fn a_wrong_address_is_not_repeated() {
        let wrong = [
            "postgres://ada:top@secret@localhost/shop",
            "postgres://ada:top@secret/more@localhost/shop",
            "postgres://ada:top@secret:word@localhost/shop",
            "postgres://ada:secret@localhost:port/shop",
            "postgres://ada:secret@localhost/shop?secret=1",
            "postgres://",
            "postgres://ada:secret@localhost/shop?sslmode=require",
        ];
        for address in wrong {
            let Err(error) = parse(address) else {
                panic!("{address} was taken");
            };
            let said = format!("{error} {error:?}");
            assert!(!said.contains("secret"), "{said}");
        }
    }
}
