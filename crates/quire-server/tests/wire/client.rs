//! A client that says what it is told and shows what it hears.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use quire::Database;
use quire_server::{Server, ServerOptions};

/// A server of its own for each test.
pub fn server() -> Server {
    server_with(ServerOptions::default())
}

pub fn server_with(options: ServerOptions) -> Server {
    let options = ServerOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        ..options
    };
    Server::start(Database::in_memory().unwrap(), options).unwrap()
}

pub struct Client {
    pub stream: TcpStream,
    pub process_id: i32,
    pub secret: Vec<u8>,
}

/// A message of the server: its kind and body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub kind: char,
    pub body: Vec<u8>,
}

pub fn connect(server: &Server) -> Client {
    let mut client = open(server);
    client.send_packet(&startup(0, &[("user", "ada")]));
    let answers = client.until_ready();
    assert_eq!(answers[0].kind, 'R', "{answers:?}");
    let key = answers.iter().find(|answer| answer.kind == 'K').unwrap();
    client.process_id = i32::from_be_bytes(key.body[..4].try_into().unwrap());
    client.secret = key.body[4..].to_vec();
    client
}

/// A connection on which nothing has been said.
pub fn open(server: &Server) -> Client {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    Client {
        stream,
        process_id: 0,
        secret: Vec::new(),
    }
}

/// The first packet, without its length.
pub fn startup(minor: u16, parameters: &[(&str, &str)]) -> Vec<u8> {
    let mut packet = vec![0, 3];
    packet.extend(minor.to_be_bytes());
    for (name, value) in parameters {
        packet.extend(format!("{name}\0{value}\0").bytes());
    }
    packet.push(0);
    packet
}

pub fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut message = vec![kind];
    message.extend((body.len() as i32 + 4).to_be_bytes());
    message.extend(body);
    message
}

pub fn query(sql: &str) -> Vec<u8> {
    message(b'Q', format!("{sql}\0").as_bytes())
}

pub fn parse(name: &str, sql: &str, oids: &[u32]) -> Vec<u8> {
    let mut body = format!("{name}\0{sql}\0").into_bytes();
    body.extend((oids.len() as u16).to_be_bytes());
    oids.iter().for_each(|oid| body.extend(oid.to_be_bytes()));
    message(b'P', &body)
}

/// Values with one format for all, and one for all results.
pub fn bind_as(
    portal: &str,
    statement: &str,
    formats: [u16; 2],
    values: &[Option<&[u8]>],
) -> Vec<u8> {
    let mut body = format!("{portal}\0{statement}\0").into_bytes();
    body.extend([0, 1]);
    body.extend(formats[0].to_be_bytes());
    body.extend((values.len() as u16).to_be_bytes());
    for value in values {
        match value {
            None => body.extend((-1_i32).to_be_bytes()),
            Some(bytes) => {
                body.extend((bytes.len() as i32).to_be_bytes());
                body.extend(*bytes);
            }
        }
    }
    body.extend([0, 1]);
    body.extend(formats[1].to_be_bytes());
    message(b'B', &body)
}

pub fn bind(portal: &str, statement: &str, values: &[&str]) -> Vec<u8> {
    let values: Vec<_> = values.iter().map(|value| Some(value.as_bytes())).collect();
    bind_as(portal, statement, [0, 0], &values)
}

pub fn describe(kind: u8, name: &str) -> Vec<u8> {
    message(b'D', &[&[kind], name.as_bytes(), &[0]].concat())
}

pub fn execute(portal: &str, rows: i32) -> Vec<u8> {
    message(
        b'E',
        &[portal.as_bytes(), &[0], &rows.to_be_bytes()].concat(),
    )
}

/// Binds a statement to the unnamed portal, asks what its rows look like, and runs it.
pub fn run(statement: &str, values: &[&str]) -> [Vec<u8>; 4] {
    let portal = bind("", statement, values);
    [portal, describe(b'P', ""), execute("", 0), sync()]
}

pub fn sync() -> Vec<u8> {
    message(b'S', &[])
}

impl Client {
    pub fn send(&mut self, parts: &[Vec<u8>]) {
        self.stream.write_all(&parts.concat()).unwrap();
    }

    pub fn send_packet(&mut self, body: &[u8]) {
        let length = (body.len() as i32 + 4).to_be_bytes();
        self.stream.write_all(&[&length, body].concat()).unwrap();
    }

    /// The next message; `None` when the server has hung up.
    pub fn next(&mut self) -> Option<Answer> {
        let mut head = [0; 5];
        match self.stream.read_exact(&mut head) {
            Ok(()) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset
                ) =>
            {
                return None;
            }
            Err(error) => panic!("{error}"),
        }
        let length = i32::from_be_bytes(head[1..].try_into().unwrap());
        let mut body = vec![0; length as usize - 4];
        self.stream.read_exact(&mut body).unwrap();
        Some(Answer {
            kind: head[0].into(),
            body,
        })
    }

    pub fn until_ready(&mut self) -> Vec<Answer> {
        let mut answers = Vec::new();
        loop {
            let answer = self
                .next()
                .unwrap_or_else(|| panic!("hung up after {answers:?}"));
            let is_last = answer.kind == 'Z';
            answers.push(answer);
            if is_last {
                return answers;
            }
        }
    }

    /// What is left until the server hangs up.
    pub fn until_end(&mut self) -> Vec<Answer> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Sends messages and shows all answers, each in a few words.
    pub fn say(&mut self, parts: &[Vec<u8>]) -> Vec<String> {
        self.send(parts);
        shown(&self.until_ready())
    }

    pub fn query(&mut self, sql: &str) -> Vec<String> {
        self.say(&[query(sql)])
    }
}

pub fn shown(answers: &[Answer]) -> Vec<String> {
    answers.iter().map(Answer::show).collect()
}

impl Answer {
    /// A field of an error or a notice.
    pub fn field(&self, wanted: char) -> Option<String> {
        let fields = self.body.split(|byte| *byte == 0);
        let mut fields = fields.filter(|field| field.first() == Some(&(wanted as u8)));
        fields
            .next()
            .map(|field| String::from_utf8_lossy(&field[1..]).into_owned())
    }

    /// Columns of a row.
    pub fn values(&self) -> Vec<Option<Vec<u8>>> {
        let mut rest = &self.body[2..];
        let mut values = Vec::new();
        while !rest.is_empty() {
            let length = i32::from_be_bytes(rest[..4].try_into().unwrap());
            rest = &rest[4..];
            values.push(usize::try_from(length).ok().map(|length| {
                let (value, tail) = rest.split_at(length);
                rest = tail;
                value.to_vec()
            }));
        }
        values
    }

    fn show(&self) -> String {
        let text = || {
            String::from_utf8_lossy(&self.body)
                .trim_end_matches('\0')
                .to_owned()
        };
        match self.kind {
            'Z' => format!("ready {}", text()),
            'C' => format!("done {}", text()),
            'E' => format!("error {}", self.field('C').unwrap()),
            'N' => format!("notice {}", self.field('C').unwrap()),
            'D' => {
                let values = self.values().into_iter().map(|value| match value {
                    None => "NULL".to_owned(),
                    Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                });
                format!("row {}", values.collect::<Vec<_>>().join("|"))
            }
            'T' => {
                let mut rest = &self.body[2..];
                let mut columns = Vec::new();
                while let Some(end) = rest.iter().position(|byte| *byte == 0) {
                    let name = String::from_utf8_lossy(&rest[..end]).into_owned();
                    let oid = u32::from_be_bytes(rest[end + 7..end + 11].try_into().unwrap());
                    columns.push(format!("{name}:{oid}"));
                    rest = &rest[end + 19..];
                }
                format!("columns {}", columns.join("|"))
            }
            't' => {
                let oids = self.body[2..].chunks(4);
                let oids = oids.map(|oid| u32::from_be_bytes(oid.try_into().unwrap()).to_string());
                format!("parameters {}", oids.collect::<Vec<_>>().join("|"))
            }
            '1' => "parsed".to_owned(),
            '2' => "bound".to_owned(),
            '3' => "closed".to_owned(),
            'n' => "no data".to_owned(),
            'I' => "empty".to_owned(),
            's' => "suspended".to_owned(),
            'S' => format!("setting {}", text().replace('\0', "=")),
            other => format!("{other}"),
        }
    }
}
